/* Sums that do not depend on their order, and totals of channels. Before the text of programs that
 * prepare and weigh.
 *
 * Fixed is a sum of up to 2^36 numbers from 0 to a little over 1, in two integers whose units are
 * 2^-24 and 2^-52. */
typedef struct {
  ulong high, low;
} Fixed;

typedef struct {
  Fixed weights;
  ulong used, outside, flagged, not_finite;
} Totals;

Fixed fixed_of(double value)
{
  const double scaled = value * 0x1p24, whole = floor(scaled);
  return (Fixed){ (ulong)whole, (ulong)rint((scaled - whole) * 0x1p28) };
}

double value_of_fixed(Fixed fixed)
{
  return (double)fixed.high * 0x1p-24 + (double)fixed.low * 0x1p-52;
}

#define TOTALS_ITEMS 64 /* of a group, as in prepare.h */

/* The sum over the group, in its first item. */
ulong sum_of_group(ulong value, __local ulong *room)
{
  const uint item = get_local_id(0);
  room[item] = value;
  for (uint step = TOTALS_ITEMS / 2; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < step)
      room[item] += room[item + step];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  value = room[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return value;
}
