/* Adds values to others. Option: REAL, float or double. */
__kernel void add_values(FACE(to), FACE(from), const ulong n)
{
  AT(REAL, to);
  AT(const REAL, from);
  const ulong i = get_global_id(0);
  if (i < n)
    to[i] += from[i];
}
