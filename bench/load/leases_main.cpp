// The load on leases, for Tenure and for its peers. Each mode prints one JSON object.
//
//   leases pairs    --peer NAME --port P --seconds S --connections C [--names N]
//       acquire + release
//   leases renewals --peer NAME --port P --seconds S --connections C [--held N]
//   leases handover --port P --release-port Q --count N
//   leases takeover --port P --count N [--ttl-ms T]
//   leases hold     --port P --count N [--first F] [--batch B]            takes and renews many
//   leases wait     --port P --count N                                    waits for those, 60 s
//
// An answer that is not what it should be ends it with exit status 1.

#include "lease_loops.hpp"
#include "lease_waits.hpp"

int main(int count, char** words) {
  const std::string mode = count > 1 ? words[1] : "";
  const bench::Options options(count > 1 ? count - 2 : 0, words + 2);
  if (mode == "pairs") return bench::Pairs(options);
  if (mode == "renewals") return bench::Renewals(options);
  if (mode == "handover") return bench::HandOver(options);
  if (mode == "takeover") return bench::Takeover(options);
  if (mode == "hold") return bench::HoldMany(options);
  if (mode == "wait") return bench::Wait(options);
  bench::Die("usage: leases pairs|renewals|handover|takeover|hold|wait …; see leases_main.cpp");
}
