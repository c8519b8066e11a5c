/* Transforms of 2, 4, 8, 16 and 32 points in registers, exp(-2 pi i jk / n), in natural order. */
#pragma once

__device__ inline float2 fft_add(float2 a, float2 b)
{
  return make_float2(a.x + b.x, a.y + b.y);
}
__device__ inline float2 fft_sub(float2 a, float2 b)
{
  return make_float2(a.x - b.x, a.y - b.y);
}
__device__ inline float2 fft_mul(float2 a, float2 b)
{
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

__device__ inline void fft_2(float2 &a, float2 &b)
{
  float2 sum = fft_add(a, b);
  b = fft_sub(a, b);
  a = sum;
}

__device__ inline void fft_4(float2 &a, float2 &b, float2 &c, float2 &d)
{
  float2 even = fft_add(a, c), odd = fft_add(b, d), left = fft_sub(a, c), right = fft_sub(b, d);
  a = fft_add(even, odd);
  c = fft_sub(even, odd);
  b = make_float2(left.x + right.y, left.y - right.x);
  d = make_float2(left.x - right.y, left.y + right.x);
}

/* Where the result of that number lies after fft<R>. */
template <int R> __device__ constexpr int fft_place(int number)
{
  return R == 32   ? number % 4 * 8 + fft_place<8>(number / 4)
         : R == 16 ? number % 4 * 4 + number / 4
         : R == 8  ? number % 4 * 2 + number / 4
                   : number;
}

/* cos(2 pi k / 32) */
__device__ constexpr float fft_cos(int k)
{
  constexpr float quarter[] = { 1,
                                0.98078528040323043f,
                                0.92387953251128674f,
                                0.83146961230254524f,
                                0.70710678118654752f,
                                0.55557023301960218f,
                                0.38268343236508977f,
                                0.19509032201612825f,
                                0 };
  k = (k % 32 + 32) % 32;
  k = k > 16 ? 32 - k : k;
  return k <= 8 ? quarter[k] : -quarter[16 - k];
}

/* a exp(-2 pi i k / 32) */
__device__ inline float2 fft_turn(float2 a, int k)
{
  return k == 8 ? make_float2(a.y, -a.x) : fft_mul(a, make_float2(fft_cos(k), -fft_cos(k - 8)));
}

template <int R> __device__ inline void fft(float2 (&v)[R])
{
  constexpr float C1 = 0.92387953251128674f, S1 = 0.38268343236508977f, C2 = 0.70710678118654752f;
  if constexpr (R == 2) {
    fft_2(v[0], v[1]);
  } else if constexpr (R == 4) {
    fft_4(v[0], v[1], v[2], v[3]);
  } else if constexpr (R == 8) {
    float2 even[4] = { v[0], v[2], v[4], v[6] }, odd[4] = { v[1], v[3], v[5], v[7] };
    fft_4(even[0], even[1], even[2], even[3]);
    fft_4(odd[0], odd[1], odd[2], odd[3]);
    odd[1] = make_float2(C2 * (odd[1].x + odd[1].y), C2 * (odd[1].y - odd[1].x));
    odd[2] = make_float2(odd[2].y, -odd[2].x);
    odd[3] = make_float2(C2 * (odd[3].y - odd[3].x), -C2 * (odd[3].x + odd[3].y));
#pragma unroll
    for (int k = 0; k < 4; k++) {
      v[2 * k] = fft_add(even[k], odd[k]);
      v[2 * k + 1] = fft_sub(even[k], odd[k]);
    }
  } else if constexpr (R == 32) {
#pragma unroll
    for (int a = 0; a < 8; a++) {
      fft_4(v[a], v[a + 8], v[a + 16], v[a + 24]);
#pragma unroll
      for (int k = 1; k < 4 && a > 0; k++)
        v[a + 8 * k] = fft_turn(v[a + 8 * k], a * k);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
      float2 part[8];
#pragma unroll
      for (int a = 0; a < 8; a++)
        part[a] = v[8 * k + a];
      fft<8>(part);
#pragma unroll
      for (int a = 0; a < 8; a++)
        v[8 * k + a] = part[a];
    }
  } else {
    const float2 w[4][4] = { { { 1, 0 }, { 1, 0 }, { 1, 0 }, { 1, 0 } },
                             { { 1, 0 }, { C1, -S1 }, { C2, -C2 }, { S1, -C1 } },
                             { { 1, 0 }, { C2, -C2 }, { 0, -1 }, { -C2, -C2 } },
                             { { 1, 0 }, { S1, -C1 }, { -C2, -C2 }, { -C1, S1 } } };
#pragma unroll
    for (int a = 0; a < 4; a++) {
      fft_4(v[a], v[a + 4], v[a + 8], v[a + 12]);
#pragma unroll
      for (int k = 1; k < 4 && a > 0; k++)
        v[a + 4 * k] = fft_mul(v[a + 4 * k], w[a][k]);
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
      fft_4(v[4 * k], v[4 * k + 1], v[4 * k + 2], v[4 * k + 3]);
  }
}

/* Element r times twiddle to the power r, for a twiddle whose first, second, fourth and eighth
 * powers are known. */
template <int R> __device__ inline void fft_twiddle(float2 (&v)[R], const float2 (&powers)[4])
{
  float2 w[R];
#pragma unroll
  for (int r = 1; r < R; r++) {
    const int high = r >= 8 ? 3 : r >= 4 ? 2 : r >= 2 ? 1 : 0, rest = r - (1 << high);
    w[r] = rest ? fft_mul(powers[high], w[rest]) : powers[high];
    v[r] = fft_mul(v[r], w[r]);
  }
}
