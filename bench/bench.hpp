#pragma once

#include <cstdlib>

#include <benchmark/benchmark.h>

namespace proteus::bench {

// Registers a benchmark under a name <what>/<case>. With BENCH_ITERATIONS set, it runs exactly that many iterations, so
// that micro.py can count the instructions of one iteration as the difference of two runs.
template <typename Body>
void add(const char* name, Body body) {
  auto* registered = benchmark::RegisterBenchmark(name, body);
  if (const char* iterations = std::getenv("BENCH_ITERATIONS")) registered->Iterations(std::atoll(iterations));
}

}  // namespace proteus::bench
