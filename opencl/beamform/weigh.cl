/* Weights times phases, once for each interval, channel, station and beam, and the sizes of
 * weights. */

/* As Weigh in beamform.c. */
typedef struct {
  double first_frequency, channel_width;
  ulong n; /* factors */
  uint beams, stations;
  uint first_interval, first_channel, channels; /* of the factors */
  uint has_weights;
} Weigh;

/* A work item a factor, [interval][channel][station][beam]; that of the first beam tells the size
 * of the weight too. Phases are found in double precision, and what they leave of a turn is turned
 * by in single precision. */
__kernel void weigh(FACE(seconds), FACE(offsets), FACE(weights), FACE(factors), FACE(sizes),
                    const Weigh job)
{
  AT(const double, seconds);
  AT(const double, offsets);
  AT(const float2, weights);
  AT(float2, factors);
  AT(float, sizes);
  const ulong at = get_global_id(0), item = at / job.beams / job.stations;
  const ulong station = at / job.beams % job.stations, beam = at % job.beams;
  const ulong interval = job.first_interval + item / job.channels,
              channel = job.first_channel + item % job.channels;
  if (at >= job.n)
    return;
  const double3 offset = vload3(interval * job.beams + beam, offsets);
  const double3 place = vload3(station, seconds);
  const double tau = place.x * offset.x + place.y * offset.y + place.z * offset.z;
  const double turns = -(job.first_frequency + channel * job.channel_width) * tau;
  const float angle = (float)(2 * (turns - rint(turns)));
  const float2 phase = (float2)(cospi(angle), sinpi(angle));
  const float2 weight =
      job.has_weights ? weights[channel * job.stations + station] : (float2)(1, 0);
  if (beam == 0)
    sizes[at / job.beams] = hypot(weight.x, weight.y);
  factors[at] =
      (float2)(weight.x * phase.x - weight.y * phase.y, weight.x * phase.y + weight.y * phase.x);
}
