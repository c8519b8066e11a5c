/* Transforms of the lines in a room, of any length, by one radix after the other or as a
 * convolution. Option: REAL, float or double. */

COMPLEX times(COMPLEX a, COMPLEX b)
{
  return (COMPLEX)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

COMPLEX conjugate(COMPLEX a)
{
  return (COMPLEX)(a.x, -a.y);
}

#define TOGETHER 16 /* terms of a first sum: few, so that errors stay small for long radices */

/* From transforms of `done` samples each, n / done of them in a line and interleaved, to those of
 * done times radix. A work item a sample. */
__kernel void combine(FACE(in), FACE(out), FACE(roots), const uint items, const uint n,
                      const uint done, const uint radix)
{
  AT(const COMPLEX, in);
  AT(COMPLEX, out);
  AT(const COMPLEX, roots);
  const uint id = (uint)get_global_id(0), longer = done * radix, step = n / longer;
  if (id >= items)
    return;
  const uint from = id / n * n, within = id % n;
  const uint transform = within / longer, bin = within % longer, turn = bin * step;
  COMPLEX sum = (COMPLEX)(0, 0), first = (COMPLEX)(0, 0);
  for (uint q = 0, root = 0; q < radix; q++) {
    first += times(in[from + (transform + q * step) * done + bin % done], roots[root]);
    root = root >= n - turn ? root - (n - turn) : root + turn; /* modulo n, with no overflow */
    if (q % TOGETHER == TOGETHER - 1) {
      sum += first;
      first = (COMPLEX)(0, 0);
    }
  }
  out[id] = sum + first;
}

/* Of a convolution: lines of n samples, times the chirp, become lines of `length`, with zeros. */
__kernel void spread(FACE(in), FACE(out), FACE(chirp), const uint items, const uint n,
                     const uint length)
{
  AT(const COMPLEX, in);
  AT(COMPLEX, out);
  AT(const COMPLEX, chirp);
  const uint id = (uint)get_global_id(0), sample = id % length;
  if (id < items)
    out[id] = sample < n ? times(in[id / length * n + sample], chirp[sample]) : (COMPLEX)(0, 0);
}

/* Times the response; conjugates, so that the next transform is the inverse one. */
__kernel void convolve(FACE(in), FACE(out), FACE(response), const uint items, const uint length)
{
  AT(const COMPLEX, in);
  AT(COMPLEX, out);
  AT(const COMPLEX, response);
  const uint id = (uint)get_global_id(0);
  if (id < items)
    out[id] = conjugate(times(in[id], response[id % length]));
}

/* Lines of n samples again, from the first ones of each line of `length`, times the chirp. */
__kernel void gather(FACE(in), FACE(out), FACE(chirp), const uint items, const uint n,
                     const uint length)
{
  AT(const COMPLEX, in);
  AT(COMPLEX, out);
  AT(const COMPLEX, chirp);
  const uint id = (uint)get_global_id(0), sample = id % n;
  if (id < items)
    out[id] = times(conjugate(in[id / n * length + sample]), chirp[sample]);
}
