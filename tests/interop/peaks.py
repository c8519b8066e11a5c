"""Finds point sources in images, for the other scripts."""
import numpy as np


def peak(image, x, y, reach):
    """Place and height of the extremum near (x, y), by a Gaussian through the pixels around it."""
    column, row = int(round(x)), int(round(y))
    part = image[row - reach : row + reach + 1, column - reach : column + reach + 1]
    sign = np.sign(part.flat[np.abs(part).argmax()])
    v, u = np.unravel_index((part * sign).argmax(), part.shape)
    u, v = u + column - reach, v + row - reach
    y_offsets, x_offsets = np.mgrid[-1:2, -1:2]
    terms = [x_offsets**0, x_offsets, y_offsets, x_offsets**2, x_offsets * y_offsets, y_offsets**2]
    matrix = np.array([term.ravel() for term in terms]).T
    logs = np.log(np.maximum(sign * image[v - 1 : v + 2, u - 1 : u + 2].ravel(), 1e-9))
    a, b, c, d, e, f = np.linalg.lstsq(matrix, logs, rcond=None)[0]
    dx, dy = np.linalg.solve([[2 * d, e], [e, 2 * f]], [-b, -c])
    return u + dx, v + dy, sign * np.exp(a + (b * dx + c * dy) / 2)
