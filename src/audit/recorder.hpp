#pragma once

#include "audit/probe.hpp"
#include "db/recorder.hpp"

namespace tenure::audit {

/// Writes the acts of a batch into the table, in one statement of the transaction that carries them
/// out (db/recorder.hpp has the argument). Their time is read then: after the locks, so it is not
/// before what it tells of.
///
/// REQUIRES: it outlives the lanes that use it.
class Recorder final : public db::Recorder {
 public:
  explicit Recorder(telemetry::Registry& metrics) : probe_(metrics) {}

  void Record(db::Transaction& tx, std::span<const db::Act> acts) override;
  void Recorded(std::span<const db::Act> acts) override;

 private:
  Probe probe_;
};

}  // namespace tenure::audit
