#include "app/capabilities.hpp"

#include "audit/capability.hpp"
#include "inbox/capability.hpp"
#include "jobs/capability.hpp"
#include "leases/capability.hpp"
#include "messages/capability.hpp"
#include "push/capability.hpp"
#include "queues/capability.hpp"
#include "seats/capability.hpp"
#include "sessions/capability.hpp"
#include "tasks/capability.hpp"
#include "usage/capability.hpp"
#include "webhooks/capability.hpp"

namespace tenure::app {

server::CapabilityList AllCapabilities() {
  return {audit::Capability(),    inbox::Capability(), leases::Capability(),
          messages::Capability(), jobs::Capability(),  queues::Capability(),
          push::Capability(),     seats::Capability(), sessions::Capability(),
          tasks::Capability(),    usage::Capability(), webhooks::Capability()};
}

}  // namespace tenure::app
