import _thread
import copy
import io
import os
import pickle
import re
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from configparser import ConfigParser, RawConfigParser
from pathlib import Path

import pytest

from aesara import configdefaults, configparser
from aesara.compat.options_without_effect import OPTIONS
from aesara.configdefaults import config
from aesara.configparser import (
    AesaraConfigParser,
    AesaraConfigWarning,
    BoolParam,
    ConfigAccessViolation,
    ConfigParam,
    ContextsParam,
    DeviceParam,
    EnumStr,
    FloatParam,
    IntParam,
    StrParam,
    parse_config_string,
)


def parser_with(flags=None, files=None, **params):
    cfg = raw = None
    if files is not None:
        cfg, raw = ConfigParser(), RawConfigParser()
        for parser in (cfg, raw):
            parser.optionxform = str
            parser.read_string(files)
    parser = AesaraConfigParser(flags or {}, cfg, raw)
    for name, param in params.items():
        parser.add(name, f"About {name}.", param)
    return parser


class Number:
    """A number that says when it is no longer needed."""

    def __init__(self, number, done):
        self.number = number
        self.done = done

    def __int__(self):
        return self.number

    def __del__(self):
        self.done.set()


class TestParams:
    @pytest.mark.parametrize("value", ["1", 1, True, "true", "True", "yes"])
    def test_true(self, value):
        assert BoolParam(None).apply(value) is True

    @pytest.mark.parametrize("value", ["0", 0, False, "false", "False", "no"])
    def test_false(self, value):
        assert BoolParam(None).apply(value) is False

    def test_bool_refuses(self):
        with pytest.raises(ValueError, match="Invalid value"):
            BoolParam(None).apply("notabool")

    def test_numbers(self):
        assert IntParam(0).apply("3") == 3
        assert FloatParam(0).apply("1e3") == 1000.0
        assert FloatParam(0).apply("inf") == float("inf")
        with pytest.raises(ValueError, match="expected an integer"):
            IntParam(0).apply("x")
        with pytest.raises(ValueError, match="expected a number"):
            FloatParam(0).apply("x")

    def test_validation(self):
        param = IntParam(1, validate=lambda v: v > 0)
        assert param.validate(param.apply(5))
        with pytest.raises(ValueError, match="Invalid value"):
            param.validate(-1)

    def test_enum(self):
        param = EnumStr("blue", ["red", "green", "yellow"])
        assert len(param.all) == 4
        assert param.apply("red") == "red"
        with pytest.raises(ValueError, match=r"Invalid value \('gren'\).*Did you mean 'green'"):
            param.apply("gren")
        with pytest.raises(ValueError, match="Non-str value"):
            EnumStr(default="red", options=["red", 12, "yellow"])

    def test_device(self):
        param = DeviceParam("cpu", mutable=False)
        assert param.default == "cpu"
        assert not param.mutable
        assert param.apply("cpu123") == "cpu123"
        special = DeviceParam("none", "special")
        for value in ("none", "special", "cpu"):
            assert special.apply(value) == value
        for refused in ("other", "", None, 3, ["none"]):
            with pytest.raises(ValueError, match="Invalid device"):
                special.apply(refused)
        with pytest.raises(ValueError, match="removed from Aesara"):
            param.apply("cuda123")
        with pytest.raises(ValueError, match="Valid options start with one of"):
            param.apply("notadevice")
        with pytest.raises(ValueError, match="Malformed context"):
            ContextsParam().apply("a->b;c")

    def test_param(self):
        param = ConfigParam("7", apply=int)
        assert (param.default, param.mutable, param.apply("8")) == ("7", True, 8)


class TestParser:
    def test_values(self):
        parser = parser_with(answer=IntParam(42), name=StrParam("x"))
        assert parser.answer == 42
        parser.answer = "43"
        assert parser.answer == 43
        with pytest.raises(ValueError):
            parser.answer = "many"
        assert parser.answer == 43
        assert "answer" in parser
        assert list(parser) == ["answer", "name"]
        assert "answer = 43" in str(parser)

    def test_environment_wins_over_files(self):
        files = "[global]\na = 1\nb = 1\n[part]\nc = 1\n[deep__part]\nd = 5\n"
        parser = parser_with(
            {"a": "2"}, files, a=IntParam(0), b=IntParam(0), part__c=IntParam(0), deep__part__d=IntParam(0)
        )
        assert (parser.a, parser.b, parser.part__c, parser.deep__part__d) == (2, 1, 1, 5)
        with pytest.raises(KeyError):
            parser.fetch_val_for_key("nothing")
        assert parser.fetch_val_for_key("a") == "1"  # what is left of the environment names no option

    def test_bad_interpolation_falls_back_on_the_raw_text(self):
        assert parser_with(files="[global]\na = 50%x\n", a=StrParam("")).a == "50%x"

    def test_wrong_values_show_at_once(self):
        with pytest.raises(ValueError, match="Invalid value"):
            parser_with({"a": "x"}, a=IntParam(0))
        with pytest.raises(ValueError, match="Invalid value"):
            parser_with(a=IntParam("x"))

    def test_defaults_are_computed_when_read(self):
        calls = []

        def default():
            calls.append(1)
            return "7"

        parser = parser_with(lazy=IntParam(default))
        assert calls == []
        assert parser.lazy == parser.lazy == 7
        assert calls == [1]

    def test_none_is_a_default(self):
        assert parser_with(a=IntParam(None)).a is None

    def test_unknown_options(self):
        parser = parser_with(floatX=StrParam("x"))
        with pytest.raises(ConfigAccessViolation, match="Did you mean 'floatX'"):
            parser.floatx
        with pytest.raises(AttributeError, match="no configuration option"):
            parser.floatx = 1
        with pytest.raises(AttributeError):
            parser.change_flags(floatx=1)
        with pytest.raises(AttributeError, match="cannot be deleted"):
            del parser.floatX
        assert not hasattr(parser, "__wrapped__")

    def test_adding(self):
        parser = parser_with(a=IntParam(0))
        with pytest.raises(AttributeError, match="already"):
            parser.add("a", "", IntParam(0))
        with pytest.raises(ValueError, match="double underscores"):
            parser.add("a.b", "", IntParam(0))

    def test_options_that_cannot_change(self):
        parser = parser_with(fixed=IntParam(1, mutable=False))
        with pytest.raises(Exception, match="Can't change the value"):
            parser.fixed = 2

    def test_hash(self):
        parser = parser_with(a=IntParam(0))
        parser.add("b", "", IntParam(0), in_c_key=False)
        before = parser.get_config_hash()
        parser.b = 1
        assert parser.get_config_hash() == before
        parser.a = 1
        assert parser.get_config_hash() != before

    def test_hashes_are_those_of_the_options(self):
        """Not of the order in which they came, but of names and values."""
        names = "abcdef"
        hashes = [
            parser_with(**{name: IntParam(ord(name)) for name in order}).get_config_hash()
            for order in (names, names[::-1], "cafebd", "abcde", "abcdeg")
        ]
        assert len(set(hashes[:3])) == 1 and len(set(hashes)) == 3
        assert parser_with(a=IntParam(1)).get_config_hash() != parser_with(b=IntParam(1)).get_config_hash()

    def test_print(self):
        buffer = io.StringIO()
        parser_with(a=IntParam(3)).config_print(buffer)
        assert "About a." in buffer.getvalue()
        assert "Value:  3" in buffer.getvalue()

    def test_unused_flags(self):
        parser = parser_with({"flaotX": "1"}, floatX=StrParam(""))
        with pytest.warns(AesaraConfigWarning, match="'flaotX'. Did you mean 'floatX'"):
            parser.warn_unused_flags()
        parser = parser_with(files="[global]\nflaotX = 1\nfloatX = x\n[nvcc]\nfastmath = 1", floatX=StrParam(""))
        with pytest.warns(AesaraConfigWarning) as caught:
            parser.warn_unused_flags()
        assert ["flaotX" in str(one.message) for one in caught] == [True, False]
        assert "'nvcc__fastmath'" in str(caught[1].message)


class TestChangeFlags:
    def test_context(self):
        with config.change_flags(compute_test_value="raise", floatX="float32"):
            assert (config.compute_test_value, config.floatX) == ("raise", "float32")
            with config.change_flags({"floatX": "float16"}, [("compute_test_value", "off")]):
                assert (config.compute_test_value, config.floatX) == ("off", "float16")
            assert config.floatX == "float32"
        assert config.compute_test_value == "off"

    def test_errors_restore(self):
        before = config.floatX
        with pytest.raises(KeyError), config.change_flags(floatX="float32"):
            raise KeyError
        assert config.floatX == before
        with pytest.raises(ValueError), config.change_flags(floatX="float32", compute_test_value="nonsense"):
            pass
        assert config.floatX == before

    def test_decorator(self):
        @config.change_flags(floatX="float32")
        def depth(n):
            """A docstring."""
            assert config.floatX == "float32"
            return n if n == 0 else depth(n - 1)

        before = config.floatX
        assert depth(3) == 0
        assert config.floatX == before
        assert depth.__doc__ == "A docstring."

    def test_blocks_that_overlap(self):
        parser = parser_with(a=IntParam(0))
        one, two, three = (parser.change_flags(a=k) for k in (1, 2, 3))
        for first, then in (([one, two, three], [one, two, three]), ([one, two, three], [two, three, one])):
            for change in first:
                change.__enter__()
            assert parser.a == 3
            for change in then[:-1]:
                change.__exit__(None, None, None)
            assert parser.a == (1 if then[-1] is one else 3)
            then[-1].__exit__(None, None, None)
            assert parser.a == 0
        with parser.change_flags(a=1):
            parser.a = 5
            with parser.change_flags(a=6):
                parser.a = 7
            assert parser.a == 5
        assert parser.a == 0

    def test_threads(self):
        def change():
            for _ in range(2000):
                with config.change_flags(exception_verbosity="high"):
                    assert config.exception_verbosity == "high"

        before = config.exception_verbosity
        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(change) for _ in range(4)]:
                done.result()
        assert config.exception_verbosity == before

    def test_an_object_can_be_entered_twice(self):
        before = config.floatX
        change = config.change_flags(floatX="float32")
        with change, change:
            assert config.floatX == "float32"
        assert config.floatX == before

    def test_a_block_can_be_left_twice(self):
        """As by programs that keep the block that they have entered last in one attribute."""
        parser = parser_with(a=IntParam(0))
        outer, inner = parser.change_flags(a=1), parser.change_flags(a=2)
        outer.__enter__()
        inner.__enter__()
        inner.__exit__(None, None, None)
        assert parser.a == 1
        parser.a = 5
        inner.__exit__(None, None, None)
        assert parser.a == 1
        with pytest.raises(IndexError):
            parser.change_flags(a=3).__exit__(None, None, None)

    def test_a_block_in_a_pickle(self):
        """Objects that keep a block, or the options, are pickled without values of options."""
        assert pickle.loads(pickle.dumps(config)) is config
        before = config.floatX
        block = pickle.loads(pickle.dumps(config.change_flags(floatX="float32")))
        with block:
            assert config.floatX == "float32"
        assert config.floatX == before
        assert copy.deepcopy(config) is config


class TestStrings:
    def test_flags(self):
        assert parse_config_string("a=1,b__c=x") == {"a": "1", "b__c": "x"}
        assert parse_config_string(" a = 1 , , b=' x, y '") == {"a": "1", "b": " x, y "}
        assert parse_config_string("a=b=c") == {"a": "b=c"}
        assert parse_config_string("scan.allow_gc=1") == {"scan__allow_gc": "1"}
        assert parse_config_string("") == {}
        with pytest.warns(AesaraConfigWarning, match="without a value"):
            assert parse_config_string("a") == {}
        assert parse_config_string("a", issue_warnings=False) == {}

    def test_quotes(self):
        assert parse_config_string("""a="it's",b='x'""") == {"a": "it's", "b": "x"}
        assert parse_config_string("'a=1',\"b=2,3\"") == {"a": "1", "b": "2,3"}
        assert parse_config_string("a='x'+'y', b=''") == {"a": "'x'+'y'", "b": ""}
        with pytest.raises(ValueError, match="' is not closed"):
            parse_config_string("a='x,b=2")

    def test_files(self, monkeypatch):
        monkeypatch.setenv("AESARARC", os.pathsep.join(["one", "~/two"]))
        assert configparser.config_files_from_aesararc() == ["one", os.path.expanduser("~/two")]
        monkeypatch.delenv("AESARARC")
        assert configparser.config_files_from_aesararc()[0] == os.path.expanduser("~/.aesararc")


class TestDefaults:
    @pytest.mark.parametrize(
        "name, value",
        [
            ("floatX", "float64"),
            ("cast_policy", "custom"),
            ("mode", "Mode"),
            ("on_unused_input", "raise"),
            ("compute_test_value", "off"),
            ("allow_gc", True),
            ("exception_verbosity", "low"),
            ("native_cache", True),
            ("native_verify", False),
            ("optdb__position_cutoff", float("inf")),
        ],
    )
    def test_values(self, name, value):
        parser = AesaraConfigParser({}, None, None)
        param = config._config_var_dict[name]
        assert param.convert(param.default) == value
        assert name not in parser

    def test_every_option_has_a_valid_default_and_a_doc(self):
        for name, param in config._config_var_dict.items():
            assert param.doc.endswith("."), name
            default = param.default() if callable(param.default) else param.default
            assert param.convert(default) is not None or default is None

    def test_every_option_means_something_or_says_that_it_does_not(self):
        package = Path(configparser.__file__).parent
        declared = ("configdefaults.py", "options_without_effect.py")
        files = [path for path in package.rglob("*.py") if path.name not in declared]
        read = set(re.findall(r"config\.(\w+)", "\n".join(path.read_text(encoding="utf-8") for path in files)))
        for name, param in config._config_var_dict.items():
            assert name in read or "without effect" in param.doc, name
        # `ldflags` returns parts of the text of an option that has no effect otherwise
        assert {name for options in OPTIONS.values() for name, _, _ in options} & read == {"blas__ldflags"}

    def test_options_of_c_compilers_are_accepted(self):
        for name in ("cxx", "gcc__cxxflags", "blas__ldflags", "base_compiledir", "compiledir"):
            assert "without effect" in config._config_var_dict[name].doc
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with config.change_flags({name: "anything"}):
                    assert getattr(config, name) == "anything"

    def test_options_without_effect_say_so_once(self):
        def parser(flags=None, files=None):
            made = parser_with(flags, files)
            made.add("old", "An old option.", IntParam(1), no_effect="nobody asks")
            made.add("fresh", "A new option.", IntParam(1))
            return made

        said = "^The configuration option 'old' is accepted but without effect, because nobody asks.$"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            quiet = parser()
            quiet.old = quiet.old
            quiet.fresh = 2
            parser({"old": "1"}, "[global]\nold = 1")
        with pytest.warns(AesaraConfigWarning, match=said) as caught:
            parser({"old": "2"})
        with pytest.warns(AesaraConfigWarning, match=said):
            parser(files="[global]\nold = 2")
        assigned = parser()
        with pytest.warns(AesaraConfigWarning, match=said) as caught:
            assigned.old = 2
        assert caught[0].filename == __file__
        # In a thread that begins there, as at the end of a program, there is no line to name.
        done = threading.Event()
        with pytest.warns(AesaraConfigWarning, match=said):
            _thread.start_new_thread(setattr, (parser(), "old", Number(2, done)))
            assert done.wait(10)
        for change in (lambda p: p.change_flags(old=2).__enter__(), lambda p: p.change_flags(old=2)(int)()):
            with pytest.warns(AesaraConfigWarning, match=said):
                change(parser())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assigned.old = 1
            assigned.old = 3
        assert assigned.old == 3
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", "The configuration option")
            parser({"old": "2"})

    def test_proxy(self):
        with pytest.warns(DeprecationWarning, match="use `aesara.config` instead"):
            assert configparser.config.floatX == config.floatX
        with configparser.config.change_flags(floatX="float32"):
            assert config.floatX == "float32"
        configparser.config.floatX = config.floatX

    def test_platform_names(self):
        name = configdefaults.short_platform("3.2.0-70-generic", "Linux-3.2.0-70-generic-x86_64-with-debian")
        assert name == "Linux-3.2--generic-x86_64-with-debian"
        assert configdefaults.short_platform("", "Darwin") == "Darwin"
        name = configdefaults.short_platform("5.14.0-70.el9.x86_64", "Linux-5.14.0-70.el9.x86_64-x86_64-with-glibc2.34")
        assert name == "Linux-5.14-el9.x86_64-x86_64-with-glibc2.34"
        assert isinstance(configdefaults.short_platform(), str)

    def test_cuda_folders(self, monkeypatch, tmp_path):
        monkeypatch.setenv("CUDA_ROOT", str(tmp_path))
        assert configdefaults.get_cuda_root() == str(tmp_path)
        assert configdefaults.default_cuda_include() == str(tmp_path / "include")
        assert configdefaults.default_dnn_base_path() == configdefaults.default_dnn_inc_path() == ""
        (tmp_path / "include").mkdir()
        (tmp_path / "include" / "cudnn.h").touch()
        assert configdefaults.default_dnn_inc_path() == str(tmp_path / "include")
        assert configdefaults.default_dnn_lib_path().startswith(str(tmp_path))
        assert configdefaults.default_dnn_bin_path().startswith(str(tmp_path))


def in_a_new_process(code, **environment):
    package = os.path.dirname(configparser.__file__)
    prologue = (
        "import sys, types\n"
        "package = types.ModuleType('aesara'); package.__path__ = [sys.argv[1]]; sys.modules['aesara'] = "
        "package\n"
    )
    return subprocess.run(
        [sys.executable, "-c", prologue + code, package],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


class TestSections:
    """Options with two underscores may be written with a dot."""

    def parser(self):
        return parser_with(scan__allow_gc=BoolParam(False), scan__debug=BoolParam(True))

    def test_read(self):
        with pytest.warns(DeprecationWarning, match="config.scan__"):
            assert self.parser().scan.allow_gc is False
            assert self.parser().scan.debug is True

    def test_set(self):
        parser = self.parser()
        parser.scan.allow_gc = "True"
        assert parser.scan__allow_gc is True and parser.scan__debug is True

    def test_an_unknown_option_of_a_known_section(self):
        parser = self.parser()
        with pytest.raises(ConfigAccessViolation, match="'scan__alow_gc'.*'scan__allow_gc'"):
            _ = parser.scan.alow_gc
        with pytest.warns(AesaraConfigWarning, match="'scan__alow_gc'.*'scan__allow_gc'.* no effect") as said:
            parser.scan.alow_gc = True
        assert said[0].filename == __file__
        assert "scan__alow_gc" not in parser

    def test_an_unknown_section(self):
        with pytest.raises(ConfigAccessViolation, match="'loops'"):
            _ = self.parser().loops.allow_gc


def test_environment_and_files_of_a_process(tmp_path):
    file = tmp_path / "rc"
    file.write_text("[global]\nfloatX = float16\n[scan]\ncheckpoint_memory = 7\n")
    code = "from aesara.configdefaults import config; print(config.floatX, config.scan__checkpoint_memory, config.mode)"
    assert in_a_new_process(code, AESARARC=str(file), AESARA_FLAGS="mode=FAST_COMPILE") == "float16 7 FAST_COMPILE"
    assert in_a_new_process(code, AESARARC=str(file), AESARA_FLAGS="floatX=float32").startswith("float32")


def test_import_makes_nothing(tmp_path):
    code = "import aesara.configdefaults; print('platformdirs' in sys.modules)"
    home = {
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "AESARA_FLAGS": "",
        "AESARARC": "",
    }
    assert in_a_new_process(code, **home) == "False"
    code = "from aesara.configdefaults import config; print(config.native_cache_dir)"
    assert "aesara" in in_a_new_process(code, **home)
    assert list(tmp_path.iterdir()) == []


def imported_with(text, tmp_path, code="from aesara.configdefaults import config; print(config.floatX)", **environment):
    """Run `code` in a process with a configuration file of this text or bytes; return its output and error lines."""
    file = tmp_path / "rc"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    file.chmod(environment.pop("mode", 0o600))
    variables = {**os.environ, "AESARA_FLAGS": "", "AESARARC": str(file), **environment}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=variables)
    return done.stdout.strip(), done.stderr.strip().splitlines()


@pytest.mark.parametrize(
    "text, says",
    [
        ("rubbish\n[global]\n", "rc, line 1: 'rubbish' stands before any section. Write lines `name = value` below"),
        ("[global]\nfloatX float32\n", "rc, line 2: 'floatX float32' has no value. Write lines"),
        ("[global]\nmode = a\nmode = b\n", "rc, line 3: the option 'mode' of [global] is there a second time."),
        ("[global]\n[scan]\n[global]\n", "rc, line 3: the section of [global] is there a second time."),
        (b"\xff\xfe\x00", "rc is no text in UTF-8. Write lines"),
        (
            "[global]\nfloatX = flaot32\n",
            "'float64', 'float32', 'float16']. Did you mean 'float32'? It is set in the file",
        ),
    ],
)
def test_garbage_in_a_file_is_named(text, says, tmp_path):
    shown, errors = imported_with(text, tmp_path)
    assert shown == "" and errors[-1].startswith("ValueError: ") and says in errors[-1]
    assert str(tmp_path / "rc") in errors[-1]
    assert not any("During handling" in line for line in errors)


def test_garbage_in_the_environment_is_not_laid_to_a_file(tmp_path):
    shown, errors = imported_with("[global]\nfloatX = float32\n", tmp_path, AESARA_FLAGS="floatX=flaot32")
    assert shown == "" and "'flaot32'" in errors[-1] and errors[-1].endswith("Did you mean 'float32'?")


def test_a_default_that_is_none_of_the_values_is_not_laid_to_a_file():
    with pytest.raises(ValueError) as caught:
        config.add("some_option_of_a_test", "An option.", StrParam("no", lambda value: value == "yes"))
    assert "the file" not in str(caught.value) and not hasattr(config, "some_option_of_a_test")


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owners here")
class TestFilesOfOthers:
    TEXT = "[global]\nfloatX = float32\n"

    @pytest.mark.slow
    def test_own_files_are_read(self, tmp_path):
        assert imported_with(self.TEXT, tmp_path) == ("float32", [])
        assert imported_with(self.TEXT, tmp_path, mode=0o444) == ("float32", [])

    def test_files_that_others_may_write_are_not(self, tmp_path):
        shown, errors = imported_with(self.TEXT, tmp_path, mode=0o666)
        assert shown == "float64"
        assert "AesaraConfigWarning" in errors[0] and "can be written by other users and is not read" in errors[0]
        assert f"chmod go-w {tmp_path / 'rc'}" in errors[0]

    def test_files_of_others_are_not(self, tmp_path):
        # Who runs this may not be able to give files away, so the process takes itself for another user.
        code = (
            "import os; os.getuid = lambda: 987654\nfrom aesara.configdefaults import config\nprint(config.floatX)"
            if os.getuid()
            else "import os; os.chown(os.environ['AESARARC'], 987654, -1)\n"
            "from aesara.configdefaults import config\nprint(config.floatX)"
        )
        shown, errors = imported_with(self.TEXT, tmp_path, code)
        assert shown == "float64"
        assert "belongs to another user and is not read" in errors[0] and "AESARARC" in errors[0]

    def test_files_of_the_administrator_are_read(self, tmp_path, monkeypatch):
        file = tmp_path / "rc"
        file.write_text(self.TEXT)
        file.chmod(0o644)
        real = os.stat
        monkeypatch.setattr(os, "getuid", lambda: 987654)
        for owner, trusted in ((0, True), (987654, True), (1234, False)):
            status = list(real(file))
            status[4] = owner
            monkeypatch.setattr(os, "stat", lambda path, status=tuple(status): os.stat_result(status))
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                assert configparser._is_trusted(str(file)) is trusted
            assert len(said) == (not trusted)


def test_unknown_flags_are_named(tmp_path):
    shown, errors = imported_with("", tmp_path, AESARA_FLAGS="flaotX=float32,cxx=")
    assert shown == "float64"
    assert "There is no configuration option 'flaotX'. Did you mean 'floatX'?" in errors[0]
    assert not any("cxx" in line for line in errors)


@pytest.mark.parametrize(
    "platform, variables, expected",
    [
        ("linux", {"XDG_CACHE_HOME": "/caches"}, "/caches/aesara"),
        ("linux", {"XDG_CACHE_HOME": ""}, "HOME/.cache/aesara"),
        ("linux", {}, "HOME/.cache/aesara"),
        ("darwin", {"XDG_CACHE_HOME": "/caches"}, "HOME/Library/Caches/aesara"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/aesara"),
        ("win32", {}, "HOME/AppData/Local/aesara"),
    ],
)
def test_the_folder_for_compiled_objects_is_where_each_system_has_caches(
    platform, variables, expected, monkeypatch, tmp_path
):
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    found = configdefaults.config._config_var_dict["native_cache_dir"].default()
    assert Path(found) == Path(expected.replace("HOME", str(tmp_path)))


@pytest.mark.slow
def test_home_in_paths(tmp_path):
    code = "from aesara.configdefaults import config; print(config.native_cache_dir)"
    home = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    for flags, text in (("native_cache_dir=~/cache", ""), ("", "[global]\nnative_cache_dir = ~/cache\n")):
        shown, _ = imported_with(text, tmp_path, code, AESARA_FLAGS=flags, **home)
        assert shown == os.path.join(str(tmp_path), "cache") or shown == str(tmp_path) + "/cache"
    with config.change_flags(profiling__destination="~/profile"):
        assert config.profiling__destination == os.path.expanduser("~/profile")
    assert config.profiling__destination == "stderr"


def test_dotted_names_work_and_are_old():
    parser = AesaraConfigParser({}, None, None)
    parser.add("part__piece__option", "An example.", IntParam(1))
    with pytest.warns(DeprecationWarning, match="use config.part__piece__option instead"):
        assert parser.part.piece.option == 1


def test_an_option_of_another_parser_is_said_to_be_one():
    other = AesaraConfigParser({}, None, None)
    other.add("only__there", "An option of this parser alone.", IntParam(5))
    assert other.only__there == 5
    with pytest.raises(ConfigAccessViolation, match="'only__there' was added to a different instance"):
        _ = config.only__there


def test_modes_are_named_where_a_value_is_none_of_them():
    with pytest.raises(ValueError, match=r"'FAST_RAN'.*'mode'\. Expected one of \['Mode', 'DebugMode', 'FAST_RUN'"):
        config.mode = "FAST_RAN"


def test_an_option_that_no_parser_has_yet_is_without_name():
    assert str(IntParam(3)) == "None (3)"


@pytest.mark.parametrize("kind", ["deprecated", "numba", "multiprocessing", "caching_dir"])
def test_options_without_effect_are_declared_in_groups_too(kind, monkeypatch):
    one = AesaraConfigParser({}, None, None)
    monkeypatch.setattr(configdefaults, "config", one)
    getattr(configdefaults, f"add_{kind}_configvars")()
    declared = set(one._config_var_dict)
    assert declared and declared < set(config._config_var_dict)
    getattr(configdefaults, f"add_{kind}_configvars")()
    assert set(one._config_var_dict) == declared
