#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "db/lane.hpp"

namespace tenure::store {

/// Does something, once, before a step of somebody's transaction: as another process that comes just
/// then.
class BeforeStep final : public db::StepHook {
 public:
  BeforeStep(db::Lane& lane, std::string step, std::function<void()> what)
      : lane_(lane), step_(std::move(step)), what_(std::move(what)) {
    lane_.connection().SetHook(this);
  }
  ~BeforeStep() override { lane_.connection().SetHook(nullptr); }
  BeforeStep(const BeforeStep&) = delete;
  BeforeStep& operator=(const BeforeStep&) = delete;

  /// What is to be done next, and before which step.
  void Then(std::string step, std::function<void()> what) {
    step_ = std::move(step);
    what_ = std::move(what);
  }

  void Before(std::string_view step) override {
    if (step == step_ && what_) std::exchange(what_, nullptr)();
  }
  void After(std::string_view) override {}

 private:
  db::Lane& lane_;
  std::string step_;
  std::function<void()> what_;
};

}  // namespace tenure::store
