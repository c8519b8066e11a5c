/* Takes the values of one product from those of all. Options: REAL, float or double, and LEAST, a
 * number above zero so small that it changes no sum; not the least of all, which some devices take
 * for zero. */
__kernel void take_values(FACE(from), FACE(to), const ulong n, const uint every, const uint pass,
                          const uint all_or_none)
{
  AT(const COMPLEX, from);
  AT(COMPLEX, to);
  const ulong i = get_global_id(0);
  if (i >= n)
    return;
  COMPLEX value = from[i * every + pass];
  int is_used = 0;
  for (uint p = 0; p < every && all_or_none; p++)
    is_used |= from[i * every + p].x != 0 || from[i * every + p].y != 0;
  if (is_used && value.x == 0 && value.y == 0)
    value.x = LEAST;
  to[i] = value;
}
