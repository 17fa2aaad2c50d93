#include "audit/by_hand.hpp"

#include <pwd.h>
#include <unistd.h>

#include <array>

#include "audit_by_hand/queries.hpp"

namespace tenure::audit {
namespace {

std::string HostName() {
  std::array<char, 256> host{};
  return gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "";
}

}  // namespace

std::string SystemUser() {
  const uid_t user = geteuid();
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found)
    return found->pw_name;
  return std::to_string(user);
}

void RecordByHand(db::Maintenance& maintenance, const std::string& act, const db::Deed& deed) {
  maintenance.Run(by_hand::kAddEntry, {std::to_string(maintenance.NowMs()), SystemUser(),
                                       HostName(), act, deed.object, deed.detail});
}

}  // namespace tenure::audit
