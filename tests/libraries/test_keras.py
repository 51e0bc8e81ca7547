"""Keras 2.3 with Theano as its back end: networks of each kind, against NumPy where their results are formulas."""

import importlib.metadata
import os

import numpy as np
import pytest

if not any(d.version.startswith("2.3") for d in importlib.metadata.distributions(name="keras")):
    pytest.skip("needs Keras 2.3", allow_module_level=True)

import aesara
import tests.libraries.theano_time  # noqa: F401

os.environ["KERAS_BACKEND"] = "theano"

before = aesara.config.floatX
keras = pytest.importorskip("keras", exc_type=ImportError)
aesara.config.floatX = before  # which Keras has set, for the tests of other files too

from keras import layers
from keras.models import Model, Sequential, model_from_json

ROWS = np.random.default_rng(4).normal(size=(96, 12)).astype("float32")
LABELS = (ROWS[:, 0] + ROWS[:, 1] > 0).astype("int32")


@pytest.fixture(autouse=True)
def _single_precision():
    with aesara.config.change_flags(floatX="float32"):
        yield


def trained(model, inputs, epochs=12, loss="sparse_categorical_crossentropy"):
    """The model's accuracy after training, and its losses."""
    model.compile(optimizer=keras.optimizers.Adam(0.02), loss=loss, metrics=["accuracy"])
    losses = model.fit(inputs, LABELS, epochs=epochs, batch_size=32, verbose=0, shuffle=False).history["loss"]
    return model.evaluate(inputs, LABELS, verbose=0)[1], losses


def test_a_dense_network_learns_and_is_a_formula():
    model = Sequential([layers.Dense(16, activation="relu", input_dim=12), layers.Dense(2, activation="softmax")])
    accuracy, losses = trained(model, ROWS)
    assert accuracy > 0.95 and losses[-1] < 0.4 * losses[0]
    w, b, v, c = model.get_weights()
    scores = np.exp(np.maximum(ROWS @ w + b, 0) @ v + c)
    np.testing.assert_allclose(model.predict(ROWS), scores / scores.sum(axis=1, keepdims=True), rtol=1e-4)
    again = model_from_json(model.to_json())
    again.set_weights(model.get_weights())
    np.testing.assert_array_equal(again.predict(ROWS), model.predict(ROWS))


def test_a_convolutional_network_learns():
    images = np.zeros((96, 8, 8, 1), "float32")
    images[LABELS == 1, 2:4, 2:6] = images[LABELS == 0, 2:6, 2:4] = 1
    images += 0.3 * np.random.default_rng(5).normal(size=images.shape)
    model = Sequential([
        layers.Conv2D(4, (3, 3), activation="relu", input_shape=(8, 8, 1), data_format="channels_last"),
        layers.BatchNormalization(),
        layers.MaxPooling2D(),
        layers.Dropout(0.2),
        layers.Flatten(),
        layers.Dense(2, activation="softmax"),
    ])  # fmt: skip
    accuracy, losses = trained(model, images)
    assert accuracy > 0.95 and losses[-1] < 0.4 * losses[0]


def test_recurrent_networks_learn():
    series = ROWS[:, 1::-1, None]
    for cell in (layers.SimpleRNN, layers.LSTM, layers.GRU):
        model = Sequential([cell(6, input_shape=(2, 1)), layers.Dense(2, activation="softmax")])
        _, losses = trained(model, series, epochs=20)
        assert losses[-1] < 0.7 * losses[0]


def test_a_recurrent_layer_is_a_loop():
    layer = layers.SimpleRNN(5, return_sequences=True, input_shape=(6, 2))
    model = Sequential([layer])
    series = ROWS.reshape(96, 6, 2)
    w, u, b = layer.get_weights()
    state, states = np.zeros((96, 5)), []
    for step in range(6):
        state = np.tanh(series[:, step] @ w + b + state @ u)
        states.append(state)
    np.testing.assert_allclose(model.predict(series), np.stack(states, axis=1), rtol=1e-4, atol=1e-6)


def test_a_model_with_two_inputs_of_words_and_numbers():
    words = layers.Input((4,), dtype="int32")
    numbers = layers.Input((12,))
    joined = layers.concatenate([layers.Flatten()(layers.Embedding(10, 3)(words)), numbers])
    model = Model([words, numbers], layers.Dense(1, activation="sigmoid")(joined))
    _, losses = trained(model, [np.arange(384).reshape(96, 4) % 10, ROWS], 30, loss="binary_crossentropy")
    assert losses[-1] < 0.4 * losses[0]
