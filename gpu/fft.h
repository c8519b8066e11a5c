/* Transforms of 2, 3, 4, 5, 7, 8 and 16 points in registers, exp(-2 pi i jk / n), of float2 or double2. */
#pragma once

template <typename C> __device__ inline C fft_add(C a, C b)
{
  return C{ a.x + b.x, a.y + b.y };
}
template <typename C> __device__ inline C fft_sub(C a, C b)
{
  return C{ a.x - b.x, a.y - b.y };
}
template <typename C> __device__ inline C fft_mul(C a, C b)
{
  return C{ a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x };
}

template <typename C> __device__ inline void fft_2(C &a, C &b)
{
  C sum = fft_add(a, b);
  b = fft_sub(a, b);
  a = sum;
}

template <typename C> __device__ inline void fft_4(C &a, C &b, C &c, C &d)
{
  C even = fft_add(a, c), odd = fft_add(b, d), left = fft_sub(a, c), right = fft_sub(b, d);
  a = fft_add(even, odd);
  c = fft_sub(even, odd);
  b = C{ left.x + right.y, left.y - right.x };
  d = C{ left.x - right.y, left.y + right.x };
}

/* Of cos and sin(2 pi k / R). */
template <int R> __device__ constexpr double fft_cosine(int k)
{
  constexpr double third[] = { 1, -0.5 }, fifth[] = { 1, 0.30901699437494742, -0.80901699437494742 },
                   seventh[] = { 1, 0.62348980185873353, -0.22252093395631440, -0.90096886790241913 };
  k %= R;
  k = k > R / 2 ? R - k : k;
  return R == 3 ? third[k] : R == 5 ? fifth[k] : seventh[k];
}
template <int R> __device__ constexpr double fft_sine(int k)
{
  constexpr double third[] = { 0, 0.86602540378443865 }, fifth[] = { 0, 0.95105651629515357, 0.58778525229247313 },
                   seventh[] = { 0, 0.78183148246802981, 0.97492791218182361, 0.43388373911755812 };
  k %= R;
  int up = k > R / 2 ? R - k : k;
  double sine = R == 3 ? third[up] : R == 5 ? fifth[up] : seventh[up];
  return up == k ? sine : -sine;
}

/* Points k and R - k have the same cosines, and sines of the other sign. */
template <int R, typename C> __device__ inline void fft_odd(C (&v)[R])
{
  using Part = decltype(C::x);
  C sums[R / 2], differences[R / 2], first = v[0];
#pragma unroll
  for (int k = 1; k <= R / 2; k++) {
    sums[k - 1] = fft_add(v[k], v[R - k]);
    differences[k - 1] = fft_sub(v[k], v[R - k]);
    v[0] = fft_add(v[0], sums[k - 1]);
  }
#pragma unroll
  for (int m = 1; m <= R / 2; m++) {
    C even = first, odd = {};
#pragma unroll
    for (int k = 1; k <= R / 2; k++) {
      const Part cosine = (Part)fft_cosine<R>(m * k), sine = (Part)fft_sine<R>(m * k);
      even.x += cosine * sums[k - 1].x;
      even.y += cosine * sums[k - 1].y;
      odd.x += sine * differences[k - 1].x;
      odd.y += sine * differences[k - 1].y;
    }
    v[m] = C{ even.x + odd.y, even.y - odd.x };
    v[R - m] = C{ even.x - odd.y, even.y + odd.x };
  }
}

/* Where the result of that number lies after fft<R>. */
template <int R> __device__ constexpr int fft_place(int number)
{
  return R == 16 ? number % 4 * 4 + number / 4 : R == 8 ? number % 4 * 2 + number / 4 : number;
}

template <int R, typename C> __device__ inline void fft(C (&v)[R])
{
  using Part = decltype(C::x);
  constexpr Part C1 = (Part)0.92387953251128674, S1 = (Part)0.38268343236508977, C2 = (Part)0.70710678118654752;
  if constexpr (R % 2) {
    fft_odd<R>(v);
  } else if constexpr (R == 2) {
    fft_2(v[0], v[1]);
  } else if constexpr (R == 4) {
    fft_4(v[0], v[1], v[2], v[3]);
  } else if constexpr (R == 8) {
    C even[4] = { v[0], v[2], v[4], v[6] }, odd[4] = { v[1], v[3], v[5], v[7] };
    fft_4(even[0], even[1], even[2], even[3]);
    fft_4(odd[0], odd[1], odd[2], odd[3]);
    odd[1] = C{ C2 * (odd[1].x + odd[1].y), C2 * (odd[1].y - odd[1].x) };
    odd[2] = C{ odd[2].y, -odd[2].x };
    odd[3] = C{ C2 * (odd[3].y - odd[3].x), -C2 * (odd[3].x + odd[3].y) };
#pragma unroll
    for (int k = 0; k < 4; k++) {
      v[2 * k] = fft_add(even[k], odd[k]);
      v[2 * k + 1] = fft_sub(even[k], odd[k]);
    }
  } else {
    static_assert(R == 16);
    const C w[4][4] = { { { 1, 0 }, { 1, 0 }, { 1, 0 }, { 1, 0 } },
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
