#include "server/capability.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tenure::server {
namespace {

using Hook = std::function<void()> Running::*;

/// The last that was made comes first: it may use those before it.
void CallBackwards(const std::vector<Running>& running, Hook hook) {
  for (auto each = running.rbegin(); each != running.rend(); ++each)
    if ((*each).*hook) ((*each).*hook)();
}

void RequireNeeds(const Capability& capability, std::span<const Capability> before) {
  for (const std::string_view need : capability.needs)
    if (std::ranges::find(before, need, &Capability::name) == before.end())
      throw base::UserError(
          fmt::format("{} needs {}, which does not stand before it", capability.name, need));
}

}  // namespace

Capabilities::Capabilities(const CapabilityList& list, const server::Parts& parts) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    RequireNeeds(list[i], std::span(list).first(i));
    running_.push_back(list[i].run(parts, others_));
    others_.Add(running_.back());
  }
}

Capabilities::~Capabilities() {
  while (!running_.empty()) running_.pop_back();
}

void Capabilities::Start() const {
  for (const Running& each : running_)
    if (each.start) each.start();
}

void Capabilities::StopWaiting() const { CallBackwards(running_, &Running::stop_waiting); }

void Capabilities::Stop() const { CallBackwards(running_, &Running::stop); }

}  // namespace tenure::server
