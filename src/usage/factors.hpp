#pragma once

#include <vector>

#include "db/operation.hpp"
#include "usage/seal.hpp"

namespace tenure::usage {

struct FactorsRequest {};
struct FactorsReply {
  std::vector<Factor> factors{};  ///< by kind, then by `from_ms`
};
class FactorsHandler final : public db::TypedHandler<FactorsRequest, FactorsReply> {
 public:
  std::string_view name() const override { return "usage.factors"; }
  bool reads() const override { return true; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
};

struct SetFactorRequest {
  int kind = 1;
  std::int64_t millionths = 0;
  std::int64_t interval_ms = 60'000;
  SeedFactors seed{1'000'000, 2'000'000, 3'000'000};
};
struct SetFactorReply {
  Factor factor{};
};

/// Sets what a kind costs, from the next window on. Saying again what was said last changes
/// nothing, so a lost reply does no harm.
///
/// Under the seal, so no window is closed meanwhile: the boundary from which it counts lies after
/// the end of every closed window, and whatever was written of those stays as it was.
class SetFactorHandler final : public db::TypedHandler<SetFactorRequest, SetFactorReply> {
 public:
  std::string_view name() const override { return "usage.set_factor"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
};

}  // namespace tenure::usage
