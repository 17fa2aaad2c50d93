// A test program that is about to be killed: starts a cluster, says its pid, waits for the end.
#include <unistd.h>

#include <cstdio>

#include "support/postgres_cluster.hpp"

int main() {
  std::printf("%d\n", tenure::support::SharedPostgres().pid());
  std::fflush(stdout);
  while (true) pause();
}
