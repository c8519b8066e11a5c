/* Reverses bands: components are words, of which NEGATIVE changes the sign. Options: WORD, the
 * unsigned type of a component; PARTS, components of a sample, of which the last is negated;
 * NEGATIVE, one of the functions below; IS_COMPLEX, 1 or 0. */

#define TOP ((WORD)((WORD)1 << (sizeof(WORD) * 8 - 1)))

/* A byte of CI4, whose imaginary part is the low nibble. */
WORD negative_nibble(WORD value)
{
  const uint low = (uint)value & 15;
  return (WORD)(((uint)value & 0xf0) | (low == 8 ? 7 : (16 - low) & 15));
}

WORD negative_integer(WORD value)
{
  return value == TOP ? (WORD)(TOP - 1) : (WORD)(0 - value);
}

WORD negative_float(WORD value)
{
  return value ^ TOP;
}

/* A work item a sample. A block is outer x extent x inner samples. Spectra are taken from the
 * mirrored channel; of real voltages the odd time steps are negated. */
__kernel void turn(FACE(in), FACE(out), const ulong samples, const ulong extent, const ulong inner,
                   const uint is_spectra, const uint odd)
{
  AT(const WORD, in);
  AT(WORD, out);
  const ulong to = get_global_id(0);
  if (to >= samples)
    return;
  const ulong k = to / inner % extent;
  const ulong from = is_spectra ? to - k * inner + (extent - 1 - k) * inner : to;
  const WORD last = in[from * PARTS + PARTS - 1];
  if (PARTS == 2)
    out[to * PARTS] = in[from * PARTS];
  out[to * PARTS + PARTS - 1] = IS_COMPLEX || (k + odd) % 2 ? NEGATIVE(last) : last;
}
