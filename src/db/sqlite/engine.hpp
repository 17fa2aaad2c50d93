#pragma once

#include <filesystem>
#include <memory>

#include "base/clock.hpp"
#include "db/engine.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::db::sqlite {

/// The embedded store in the folder `directory` (made when it is missing). It belongs to one
/// process at a time: a second one is refused with a base::UserError that names the first.
std::unique_ptr<Engine> MakeEngine(const std::filesystem::path& directory, const base::Clock& clock,
                                   telemetry::Registry& metrics, const FreezePolicy& policy = {});

}  // namespace tenure::db::sqlite
