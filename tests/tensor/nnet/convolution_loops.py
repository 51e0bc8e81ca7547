"""Convolutions by plain loops over all elements."""

import itertools

import numpy as np


class Loops:
    """A convolution with given settings, element by element.

    `pads` are the numbers of zeros in front and behind, for each dimension.
    """

    def __init__(self, pads, strides, dilations, groups=1, flip=True, unshared=False):
        self.pads, self.strides, self.dilations = pads, strides, dilations
        self.groups, self.flip, self.unshared = groups, flip, unshared

    def output_sizes(self, image, kernel):
        spans = [(k - 1) * d + 1 for k, d in zip(kernel, self.dilations)]
        return [(n + sum(p) - m) // s + 1 for n, p, m, s in zip(image, self.pads, spans, self.strides)]

    def terms(self, image_shape, filters_shape):
        """The elements of output, image and filters that belong together, but for what meets zeros."""
        n = len(self.strides)
        kernel = filters_shape[-n:]
        positions = self.output_sizes(image_shape[2:], kernel)
        outputs, of_group = filters_shape[0], filters_shape[-n - 1]
        for b, o, c in itertools.product(range(image_shape[0]), range(outputs), range(of_group)):
            channel = o // (outputs // self.groups) * of_group + c
            for p in np.ndindex(*positions):
                for k in np.ndindex(*kernel):
                    entry = [m - 1 - i for m, i in zip(kernel, k)] if self.flip else k
                    place = [
                        i * s + e * d - before
                        for i, s, e, d, (before, _) in zip(p, self.strides, entry, self.dilations, self.pads)
                    ]
                    if all(0 <= i < m for i, m in zip(place, image_shape[2:])):
                        of_filter = (o, *p, c, *k) if self.unshared else (o, c, *k)
                        yield (b, o, *p), (b, channel, *place), of_filter

    def forward(self, x, w):
        n = len(self.strides)
        y = np.zeros(
            (x.shape[0], w.shape[0], *self.output_sizes(x.shape[2:], w.shape[-n:])), dtype=np.result_type(x, w)
        )
        for at_y, at_x, at_w in self.terms(x.shape, w.shape):
            y[at_y] += x[at_x] * w[at_w]
        return y

    def gradients(self, x, w, dy):
        """Those for images and for filters, from that of the output."""
        dx, dw = np.zeros_like(x), np.zeros_like(w)
        for at_y, at_x, at_w in self.terms(x.shape, w.shape):
            dx[at_x] += dy[at_y] * np.conj(w[at_w])
            dw[at_w] += dy[at_y] * np.conj(x[at_x])
        return dx, dw
