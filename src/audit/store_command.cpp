#include "audit/store_command.hpp"

#include <pwd.h>
#include <unistd.h>

#include <array>

#include "audit_store_command/queries.hpp"
#include "base/host.hpp"

namespace tenure::audit {
std::string SystemUser() {
  const uid_t user = geteuid();
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found)
    return found->pw_name;
  return std::to_string(user);
}

void RecordStoreCommand(db::Maintenance& maintenance, const std::string& act,
                        const db::AuditEvent& event) {
  maintenance.Run(store_command::kAddEntry, {std::to_string(maintenance.NowMs()), SystemUser(),
                                             base::HostName(), act, event.object, event.detail});
}

}  // namespace tenure::audit
