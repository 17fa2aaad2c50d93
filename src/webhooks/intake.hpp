#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "audit/refusals.hpp"
#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "http/body_memory.hpp"
#include "http/rate_limits.hpp"
#include "http/router.hpp"
#include "webhooks/examine.hpp"
#include "webhooks/fan_out.hpp"
#include "webhooks/newest.hpp"
#include "webhooks/webhooks.hpp"
#include "webhooks/worker.hpp"

namespace tenure::webhooks {

struct IntakeOptions {
  std::size_t max_body_bytes = 25 * 1024 * 1024;
  std::size_t bytes_in_flight = 256 * 1024 * 1024;
  /// A larger body is examined by the worker, so that its loop goes on with its other connections.
  std::size_t on_loop_bytes = 256 * 1024;
  /// Where signatures that were refused are put on record, summed up; null: nowhere.
  audit::Refusals* refusals = nullptr;
};

/// The door of webhooks: asks one thing after the other, and the first "no" is the answer.
///
/// By the header: is there such a source, may this address send to it, is the body too large. When
/// the body is here: too often, are there secrets, the signature, and then what it is. What remains
/// is stored before it is answered.
///
/// What this process remembers of sources says "yes" only until the transaction that stores (receive.hpp),
/// and "no" only if the store says so too (newest.hpp): a file counts in every process from the answer
/// to whoever applied it on. Of an unknown source, or a forbidden address, only small bodies are
/// waited for.
///
/// Threads: the loops'; Stop from another one.
class Intake {
 public:
  Intake(Webhooks& webhooks, const base::Clock& clock, const IntakeOptions& options)
      : webhooks_(webhooks),
        clock_(clock),
        options_(options),
        memory_(std::make_shared<http::BodyMemory>(options.bytes_in_flight)),
        newest_(webhooks) {}

  void AddRoutes(http::Router& router);
  void Stop() { worker_.Stop(); }

 private:
  using ExchangePtr = http::ExchangePtr;
  struct Limit {
    explicit Limit(const base::Rate& rate, const base::Clock& clock) : limiter(rate, clock) {}
    http::RateLimiter limiter;
  };

  http::Route RouteOf(std::string pattern, std::string operation);
  void Admit(const http::Request& request) const;
  void Handle(const ExchangePtr& exchange);
  /// Why it came too often, if it did.
  std::optional<http::Problem> CheckRate(const ExchangePtr& exchange, const bots::Source& source);
  /// Judges it again where a newer file is in force than `judged_by`, else refuses.
  void RefuseUnlessNewer(const ExchangePtr& exchange, const SnapshotPtr& judged_by,
                         base::Task refuse);
  void Finish(const ExchangePtr& exchange, const std::shared_ptr<Knock>& knock,
              const std::optional<Refusal>& refusal);
  void Refuse(const ExchangePtr& exchange, const Knock& knock, const Refusal& refusal);
  void Store(const ExchangePtr& exchange, const DeliveryPtr& delivery);
  void Answered(const http::Request& request, std::string_view source, Outcome outcome,
                std::int64_t began_us = 0) const;

  Webhooks& webhooks_;
  const base::Clock& clock_;
  const IntakeOptions options_;
  const std::shared_ptr<http::BodyMemory> memory_;
  NewestBots newest_;
  base::Mutex mutex_;
  std::map<std::string, std::shared_ptr<Limit>> limits_ TENURE_GUARDED_BY(mutex_);
  Worker worker_;
};

}  // namespace tenure::webhooks
