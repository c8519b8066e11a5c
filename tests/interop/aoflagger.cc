// aoflagger PLANES OUTPUT ROWS CHANNELS: flags planes of complex floats, [row][channel], with
// AOFlagger's generic strategy, and writes a byte for each value. Prints the seconds that it took.
#include <aoflagger.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char **argv)
{
  if (argc != 5)
    return 2;
  const size_t rows = std::strtoul(argv[3], nullptr, 10),
               channels = std::strtoul(argv[4], nullptr, 10);
  std::FILE *in = std::fopen(argv[1], "rb"), *out = std::fopen(argv[2], "wb");
  std::vector<float> values(rows * channels * 2);
  std::vector<unsigned char> flags(rows * channels);
  if (!in || !out)
    return 1;
  aoflagger::AOFlagger flagger;
  aoflagger::Strategy strategy =
      flagger.LoadStrategyFile(flagger.FindStrategyFile(aoflagger::TelescopeId::GENERIC_TELESCOPE));
  double seconds = 0;
  while (std::fread(values.data(), sizeof(float), values.size(), in) == values.size()) {
    aoflagger::ImageSet images = flagger.MakeImageSet(rows, channels, 2); // time is the width
    for (size_t c = 0; c < channels; c++)
      for (size_t t = 0; t < rows; t++)
        for (size_t part = 0; part < 2; part++)
          images.ImageBuffer(part)[c * images.HorizontalStride() + t] =
              values[(t * channels + c) * 2 + part];
    const auto start = std::chrono::steady_clock::now();
    const aoflagger::FlagMask mask = strategy.Run(images);
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (size_t c = 0; c < channels; c++)
      for (size_t t = 0; t < rows; t++)
        flags[t * channels + c] = mask.Buffer()[c * mask.HorizontalStride() + t];
    if (std::fwrite(flags.data(), 1, flags.size(), out) != flags.size())
      return 1;
  }
  std::printf("%.6f\n", seconds);
  return std::fclose(out) != 0;
}
