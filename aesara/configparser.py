"""Typed configuration options read from ``AESARA_FLAGS`` and ``~/.aesararc``.

A value is looked for in the flags of the environment, then in the configuration files, then in the option's
default. Values live in the instance dictionary of the parser, so that reading an option costs one attribute
access.
"""

from __future__ import annotations

import os
import sys
import threading
from functools import wraps
from typing import Any

from aesara.configparams import (
    BoolParam,
    ConfigParam,
    ContextsParam,
    DeviceParam,
    EnumStr,
    FloatParam,
    IntParam,
    StrParam,
    TypedParam,
)
from aesara.file_owners import others_may_write
from aesara.user_code import warn_user
from aesara.utils import deprecated_attribute, did_you_mean, free_in_children, hash_from_code

_HOW_FILES_LOOK = "Write lines `name = value` below a line [global], or remove the file."


class AesaraConfigWarning(Warning):
    """A warning about the configuration itself."""

    @classmethod
    def warn(cls, message: str, stacklevel: int = 0) -> None:
        """Issue `message` as a warning of this class, about the line of the user's program, whatever `stacklevel`."""
        warn_user(message, cls)


class ConfigAccessViolation(AttributeError):
    """An option was used through a parser that does not have it."""


#: the options that were added to any parser
_known_somewhere: set[str] = set()


class AesaraConfigParser:
    """The options and their values.

    Parameters
    ----------
    flags_dict
        Values from the environment, by option name.
    aesara_cfg, aesara_raw_cfg
        Parsed configuration files (`configparser.ConfigParser` objects), or None.

    Examples
    --------
    >>> parser = AesaraConfigParser({"answer": "42"}, None, None)
    >>> parser.add("answer", "An example.", IntParam(1))
    >>> parser.answer
    42
    >>> with parser.change_flags(answer=7):
    ...     parser.answer
    7
    """

    def __init__(self, flags_dict: dict, aesara_cfg=None, aesara_raw_cfg=None):
        values = self.__dict__
        values["_flags_dict"] = flags_dict
        values["_aesara_cfg"] = aesara_cfg
        values["_aesara_raw_cfg"] = aesara_raw_cfg
        values["_config_var_dict"] = {}
        values["_said"] = set()
        values["_changes"] = {}
        values["_changing"] = free_in_children(threading.RLock())

    def add(self, name: str, doc: str, configparam: ConfigParam, in_c_key: bool = True, *, no_effect: str = "") -> None:
        """Declare an option.

        A value from the environment or from a file is checked here, so that a mistake shows at once.

        Parameters
        ----------
        name, doc, configparam
            The option's name, what it means, its values.
        in_c_key
            Whether it influences compiled code.
        no_effect
            Why the option is accepted and does nothing; setting it to anything but its default warns once.
        """
        if "." in name:
            raise ValueError(
                f"Dot-based names of options ('{name}') are those of older versions: use double underscores instead."
            )
        if name in self._config_var_dict:
            raise AttributeError(f"The configuration option '{name}' was already added.")
        configparam.name = name
        configparam.doc = doc
        if no_effect:
            configparam.doc += f" Accepted for compatibility; without effect, because {no_effect}."
        configparam.in_c_key = in_c_key
        configparam.no_effect = no_effect
        self._config_var_dict[name] = configparam
        _known_somewhere.add(name)
        in_flags = name in self._flags_dict
        try:
            given, by_user = self.fetch_val_for_key(name, delete_key=True), True
        except KeyError:
            if callable(configparam.default):
                return
            given, by_user = configparam.default, False
            if given is None:
                self.__dict__[name] = None
                return
        try:
            self.__dict__[name] = configparam.convert(given)
        except ValueError as error:
            del self._config_var_dict[name]
            if by_user and not in_flags:
                raise ValueError(
                    f"{error} It is set in the file {' or '.join(config_files_from_aesararc())}."
                ) from None
            raise
        if by_user and no_effect:
            self._say_without_effect(name, configparam)

    def _say_without_effect(self, name: str, param: ConfigParam) -> None:
        """Warn, once, about a value for an option that does nothing."""
        if name in self._said or self.__dict__[name] == param.default:
            return
        self._said.add(name)
        message = f"The configuration option '{name}' is accepted but without effect, because {param.no_effect}."
        warn_user(message, AesaraConfigWarning)

    def fetch_val_for_key(self, key: str, delete_key: bool = False):
        """Return the value that the user gave for `key`; raise `KeyError` where there is none."""
        flags = self._flags_dict
        if key in flags:
            return flags.pop(key) if delete_key else flags[key]
        if self._aesara_cfg is None:
            raise KeyError(key)
        section, _, option = key.rpartition("__")
        section = section or "global"
        for files in (self._aesara_cfg, self._aesara_raw_cfg):
            if files is not None and files.has_option(section, option):
                try:
                    return files.get(section, option)
                except Exception:  # bad interpolation; the raw parser comes next
                    continue
        raise KeyError(key)

    def __getattr__(self, name: str):
        # Reached only for options without a value yet: those whose default is a function.
        if name.startswith("__"):
            raise AttributeError(name)
        param = self._config_var_dict.get(name)
        if param is None:
            if any(option.startswith(f"{name}__") for option in self._config_var_dict):
                return _SectionRedirect(self, name)
            raise ConfigAccessViolation(self._unknown(name))
        value = param.default()
        value = value if value is None else param.convert(value)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value) -> None:
        param = self._config_var_dict.get(name)
        if param is None:
            raise ConfigAccessViolation(self._unknown(name))
        if not param.mutable and name in self.__dict__:
            raise Exception(
                f"Can't change the value of the configuration option '{name}': it is read once, when the package "
                f"starts. Set it in the environment variable AESARA_FLAGS='{name}={value}'."
            )
        self.__dict__[name] = param.convert(value)
        if param.no_effect:
            self._say_without_effect(name, param)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Configuration options cannot be deleted ('{name}').")

    def __contains__(self, name: str) -> bool:
        return name in self._config_var_dict

    def __iter__(self):
        return iter(self._config_var_dict)

    def _unknown(self, name: str) -> str:
        if name in _known_somewhere:
            return f"The configuration option '{name}' was added to a different instance of {type(self).__name__}."
        return f"There is no configuration option '{name}'.{did_you_mean(name, self._config_var_dict)}"

    def change_flags(self, *args, **kwargs) -> _ChangeFlagsDecorator:
        """Change options for the extent of a ``with`` block or of a decorated function.

        Options belong to the process: all threads see the change.  When blocks of several threads overlap, the last
        one that ends restores what was before the first.

        Parameters
        ----------
        *args
            Dictionaries of option names and values, or sequences of pairs.
        **kwargs
            Option names and values.
        """
        return _ChangeFlagsDecorator(*args, _root=self, **kwargs)

    def warn_unused_flags(self) -> None:
        """Warn about flags of the environment, and entries of configuration files, that name no option."""
        for key in self._flags_dict:  # what is an option has been taken out
            warn_user(f"AESARA_FLAGS: {self._unknown(key)}", AesaraConfigWarning)
        files = self._aesara_raw_cfg
        for section in () if files is None else files.sections():
            for option in files.options(section):
                key = option if section == "global" else f"{section}__{option}"
                if key not in self._config_var_dict:
                    warn_user(f".aesararc: {self._unknown(key)}", AesaraConfigWarning)

    def get_config_hash(self) -> str:
        """Return a hash of the options that influence compiled code."""
        options = sorted(name for name, param in self._config_var_dict.items() if param.in_c_key)
        text = "\n".join(f"{name} = {getattr(self, name)}" for name in options)
        return hash_from_code(text)

    def values(self) -> dict[str, Any]:
        """Return the values of all options whose defaults are known without asking for them."""
        return {name: getattr(self, name) for name, p in self._config_var_dict.items() if not callable(p.default)}

    def config_print(self, buf, print_doc: bool = True) -> None:
        """Write every option with its value to the text stream `buf`."""
        for param in self._config_var_dict.values():
            print(param, file=buf)
            if print_doc:
                print("    Doc: ", param.doc, file=buf)
            print("    Value: ", getattr(self, param.name), file=buf)
            print("", file=buf)

    def __reduce__(self) -> tuple[object, ...]:
        """Options are those of the process: what refers to them is pickled without their values."""
        return _options_of_process, ()

    def __str__(self) -> str:
        return "\n".join(f"{name} = {getattr(self, name)!r}" for name in self._config_var_dict)

    __repr__ = __str__


def _options_of_process() -> AesaraConfigParser:
    return sys.modules["aesara.configdefaults"].config


class _ChangeFlagsDecorator:
    """Set options on entry and restore them on exit; also wraps functions."""

    def __init__(self, *args, _root: AesaraConfigParser, **kwargs):
        changes: dict[str, object] = {}
        for arg in args:
            changes.update(dict(arg))
        changes.update(kwargs)
        for name in changes:
            if name not in _root._config_var_dict:
                raise ConfigAccessViolation(_root._unknown(name))
        self._root = _root
        self._changes = changes
        self._entered: list[dict[str, _Change]] = []
        self._left: dict[str, object] | None = None

    def __call__(self, function):
        changes, root = self._changes, self._root

        @wraps(function)
        def with_changed_flags(*args, **kwargs):
            with _ChangeFlagsDecorator(changes, _root=root):
                return function(*args, **kwargs)

        return with_changed_flags

    def __enter__(self):
        root = self._root
        with root._changing:
            entered = {name: _Change(getattr(root, name)) for name in self._changes}
            self._entered.append(entered)
            for name, change in entered.items():
                root._changes.setdefault(name, []).append(change)
            try:
                for name, value in self._changes.items():
                    setattr(root, name, value)
            except BaseException:
                self.__exit__()
                raise
        return self

    def __exit__(self, *exc_info) -> None:
        root = self._root
        with root._changing:
            if not self._entered and self._left is not None:
                # Programs that enter two blocks through one attribute leave the last of them twice.
                for name, value in self._left.items():
                    setattr(root, name, value)
                return
            entered = self._entered.pop()
            self._left = {name: change.before for name, change in entered.items()}
            for name, change in entered.items():
                changes = root._changes[name]
                if changes[-1] is change:
                    changes.pop()
                    root.__dict__[name] = change.before
                else:  # another thread has changed the option since: it is the one to restore it
                    at = changes.index(change)
                    changes[at + 1].before = change.before
                    del changes[at]


class _Change:
    """Record of a lasting change of an option: its former value."""

    __slots__ = ("before",)

    def __init__(self, before: object):
        self.before = before


class _SectionRedirect:
    """The options of a section by their dotted names, as older programs write them: ``config.scan.allow_gc``."""

    __slots__ = ("_name", "_parser")

    def __init__(self, parser: AesaraConfigParser, name: str):
        object.__setattr__(self, "_parser", parser)
        object.__setattr__(self, "_name", name)

    def __getattr__(self, name: str):
        option = f"{self._name}__{name}"
        if option in self._parser:
            message = f"The name config.{self._name.replace('__', '.')}.{name} is old: use config.{option} instead."
            warn_user(message, DeprecationWarning)
        return getattr(self._parser, option)

    def __setattr__(self, name: str, value) -> None:
        option = f"{self._name}__{name}"
        if option in self._parser:
            setattr(self._parser, option, value)
        else:
            AesaraConfigWarning.warn(f"{self._parser._unknown(option)} Setting it has no effect.")

    def __repr__(self) -> str:
        return f"<the options {self._name}__* of the configuration>"


class _ConfigProxy:
    """Forwards to the parser behind ``aesara.config``, and says so; kept for code that imports it from here."""

    def __init__(self, actual: AesaraConfigParser):
        object.__setattr__(self, "_actual", actual)

    def __getattr__(self, name: str):
        if not name.startswith("__"):
            message = "`aesara.configparser.config` is deprecated: use `aesara.config` instead."
            warn_user(message, DeprecationWarning)
        return getattr(object.__getattribute__(self, "_actual"), name)

    def __setattr__(self, name: str, value) -> None:
        setattr(object.__getattribute__(self, "_actual"), name, value)


def parse_config_string(config_string: str, issue_warnings: bool = True) -> dict[str, str]:
    """Read ``key=value`` pairs separated by commas; quotes protect commas.

    Examples
    --------
    >>> parse_config_string("floatX=float32, optimizer_excluding='a,b'")
    {'floatX': 'float32', 'optimizer_excluding': 'a,b'}
    """
    flags: dict[str, str] = {}
    for pair in _split_outside_quotes(config_string):
        pair = _without_quotes(pair.strip())
        if not pair:
            continue
        key, equals, value = pair.partition("=")
        if not equals:
            if issue_warnings:
                AesaraConfigWarning.warn(
                    f"The flag '{pair}' has been passed without a value and will be ignored. "
                    "Flags have the form key1=value1,key2=value2."
                )
            continue
        flags[key.strip().replace(".", "__")] = _without_quotes(value.strip())
    return flags


def _without_quotes(text: str) -> str:
    return text[1:-1] if text[:1] in ("'", '"') and text.find(text[0], 1) == len(text) - 1 else text


def _split_outside_quotes(text: str) -> list[str]:
    parts, current, quote = [], [], ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
            current.append(character)
        elif character in "\"'":
            quote = character
            current.append(character)
        elif character == ",":
            parts.append("".join(current))
            current = []
        else:
            current.append(character)
    if quote:
        raise ValueError(f"A quotation mark {quote} is not closed in the flags {text!r}.")
    parts.append("".join(current))
    return parts


def config_files_from_aesararc() -> list[str]:
    """Return the paths of the configuration files: ``AESARARC``, or ``~/.aesararc``."""
    paths = [os.path.expanduser(path) for path in os.getenv("AESARARC", "~/.aesararc").split(os.pathsep)]
    if os.getenv("AESARARC") is None and sys.platform == "win32":
        paths.append(os.path.expanduser("~/.aesararc.txt"))
    return paths


def _create_default_config() -> AesaraConfigParser:
    flags = parse_config_string(os.getenv("AESARA_FLAGS", ""))
    files = [path for path in config_files_from_aesararc() if os.path.isfile(path) and _is_trusted(path)]
    return AesaraConfigParser(flags, *_parse(files)) if files else AesaraConfigParser(flags, None, None)


def _is_trusted(path: str) -> bool:
    """Return whether only this user or the administrator owns and can write a configuration file; warn if not."""
    if not hasattr(os, "getuid"):
        return True
    status = os.stat(path)
    if status.st_uid not in (os.getuid(), 0):
        fault, remedy = "belongs to another user", "Make a file of your own"
    elif others_may_write(status):
        fault, remedy = "can be written by other users", f"Take away their right to write (chmod go-w {path})"
    else:
        return True
    message = f"{path} {fault} and is not read. {remedy}, or let the environment variable AESARARC name another file."
    warn_user(message, AesaraConfigWarning)
    return False


def _parse(files: list[str]) -> list:
    """The entries of configuration files, with references to other entries replaced, and without."""
    # Loaded only where there is a file to read: the module is comparatively heavy.
    from configparser import ConfigParser, RawConfigParser

    parsers = []
    for kind in (ConfigParser, RawConfigParser):
        parser = kind()
        parser.optionxform = str  # type: ignore[assignment,method-assign]  # option names are case-sensitive
        for path in files:
            _read(parser, path)
        parsers.append(parser)
    return parsers


def _read(parser, path: str) -> None:
    """Add the entries of a file; errors say what is wrong in which line."""
    from configparser import DuplicateOptionError, DuplicateSectionError, MissingSectionHeaderError, ParsingError

    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}."
        warn_user(message, AesaraConfigWarning)
        return
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no text in UTF-8. {_HOW_FILES_LOOK}") from None
    try:
        parser.read_string(text, path)
    except MissingSectionHeaderError as error:
        raise ValueError(
            f"{path}, line {error.lineno}: {error.line.strip()!r} stands before any section. {_HOW_FILES_LOOK}"
        ) from None
    except (DuplicateOptionError, DuplicateSectionError) as error:
        what = f"the option {error.option!r}" if isinstance(error, DuplicateOptionError) else "the section"
        raise ValueError(
            f"{path}, line {error.lineno}: {what} of [{error.section}] is there a second time. Remove one."
        ) from None
    except ParsingError as error:
        number, _ = error.errors[0]  # how the line is given depends on the version of Python
        line = text.splitlines()[number - 1].strip()
        raise ValueError(f"{path}, line {number}: {line!r} has no value. {_HOW_FILES_LOOK}") from None


_config = _create_default_config()
config = _ConfigProxy(_config)

__all__ = [
    "AesaraConfigParser",
    "AesaraConfigWarning",
    "BoolParam",
    "ConfigAccessViolation",
    "ConfigParam",
    "ContextsParam",
    "DeviceParam",
    "EnumStr",
    "FloatParam",
    "IntParam",
    "StrParam",
    "TypedParam",
    "config",
    "config_files_from_aesararc",
    "parse_config_string",
]

DEPRECATED_NAMES: list[tuple[str, str, object]] = [
    ("change_flags", "`change_flags` is deprecated; use `aesara.config.change_flags` instead.", _config.change_flags),
    ("_change_flags", "`_change_flags` is deprecated; use `aesara.config.change_flags` instead.", _config.change_flags),
    ("_config_print", "`_config_print` is deprecated; use `aesara.config.config_print` instead.", _config.config_print),
]


def __getattr__(name: str) -> Any:
    return deprecated_attribute(DEPRECATED_NAMES, __name__, name)
