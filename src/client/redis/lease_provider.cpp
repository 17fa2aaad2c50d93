#include <sys/eventfd.h>

#include <atomic>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/time_text.hpp"
#include "client/backends.hpp"
#include "client/checks.hpp"
#include "client/redis/read.hpp"
#include "client/redis/scripts.hpp"
#include "tenure/clock.hpp"

namespace tenure::client {
namespace {

using About = leases::LeaseError::About;
using Millis = std::chrono::milliseconds;

constexpr std::int64_t kAskAgainMs = 1'000;  // a third of what a ticket lasts
constexpr std::int64_t kPollMs = 250;        // while nobody tells of releases
constexpr std::size_t kLooked = 100;         // names of one question of a list

/// The arguments of a script behind the prefix.
using ScriptArguments = std::vector<std::string>;

void RefuseTasks() {
  throw std::logic_error("reliable tasks are not kept on a Redis (Guarantees::tasks)");
}

/// Leases on a Redis, over one connection that is made by the first call and anew after a failure.
class RedisConnection final : public leases::Connection {
 public:
  explicit RedisConnection(std::shared_ptr<RedisStore> store)
      : store_(std::move(store)),
        cancel_(leases::CheckedCall(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {}

  leases::AcquireOutcome Acquire(const leases::AcquireRequest& request, Millis timeout) override {
    CheckRequest(request);
    CheckTtl(request.ttl);
    const ScriptArguments asked{
        request.name,   TermOf(request.term).ToString(), std::to_string(request.ttl.count()),
        request.holder, MetadataOf(request.metadata),    "go"};
    if (request.wait.count() == 0) return AskOnce(asked, timeout, Millis(0));
    return AskInLine(asked, request.wait, timeout);
  }

  std::vector<leases::RenewOutcome> Renew(std::span<const leases::RenewRequest> requests,
                                          Millis timeout) override {
    if (requests.empty()) return {};
    std::vector<ScriptArguments> asked;
    for (const auto& request : requests) {
      CheckRequest(request);
      if (request.ttl) CheckTtl(*request.ttl);
      asked.push_back({request.name, TermOf(request.term).ToString(), std::to_string(request.fence),
                       request.ttl ? std::to_string(request.ttl->count()) : ""});
    }
    const About about{.lease = requests.front().name, .fence = requests.front().fence};
    const auto replies = Run(about, RenewScript(), asked, timeout, true);
    std::vector<leases::RenewOutcome> outcomes;
    bool granted = false;
    for (std::size_t i = 0; i < replies.size(); ++i) {
      outcomes.push_back(ReadRenewed(replies[i], {.name = asked[i][0], .term = asked[i][1]}));
      granted |= std::holds_alternative<leases::Grant>(outcomes.back());
    }
    if (granted) AwaitReplicas(about, timeout);
    return outcomes;
  }

  leases::ReleaseOutcome Release(const leases::ReleaseRequest& request, Millis timeout) override {
    CheckLeaseName(request.name);
    return ReadReleased(RunOne({.lease = request.name, .fence = request.fence.value_or(0)},
                               ReleaseScript(),
                               {request.name, TermOf(request.term).ToString(),
                                request.fence ? std::to_string(*request.fence) : ""},
                               timeout, true));
  }

  std::optional<leases::BreakOutcome> Break(const leases::BreakRequest& request,
                                            Millis timeout) override {
    CheckRequest(request);
    return ReadBroken(
        RunOne({.lease = request.name, .fence = request.fence.value_or(0)}, BreakScript(),
               {request.name, request.reason, std::to_string(request.drain.count()),
                request.force ? "force" : "", request.fence ? std::to_string(*request.fence) : ""},
               timeout, true));
  }

  std::optional<leases::LeaseView> Get(std::string_view name, Millis timeout) override {
    CheckLeaseName(name);
    const std::string lease(name);
    return ReadLease(RunOne({.lease = lease}, GetScript(), {lease}, timeout, false));
  }

  std::vector<leases::LeaseView> List(const leases::ListRequest& request, Millis timeout) override {
    CheckRequest(request);
    std::vector<leases::LeaseView> found;
    std::string after = request.after;
    do {
      LeasePage page = ReadLeases(RunOne(
          {}, ListScript(), {request.prefix, after, std::to_string(kLooked)}, timeout, false));
      for (leases::LeaseView& view : page.views) {
        if (!request.holder.empty() && view.holder != request.holder) continue;
        if (request.state && view.state != *request.state) continue;
        if (found.size() < request.limit) found.push_back(std::move(view));
      }
      after = std::move(page.next);
    } while (!after.empty() && found.size() < request.limit);
    return found;
  }

  leases::ClaimOutcome ClaimTask(const leases::TaskClaim&, Millis) override {
    RefuseTasks();
    return {};
  }
  leases::FinishOutcome FinishTask(const leases::TaskFinish&, Millis) override {
    RefuseTasks();
    return {};
  }

  void Cancel() noexcept override {
    cancelled_ = true;
    ::eventfd_write(cancel_.get(), 1);
    store_->bell().Nudge();
  }

 private:
  void CheckTtl(Millis ttl) const {
    const Millis most = store_->may_forget();
    if (most.count() == 0 || ttl <= most) return;
    throw std::invalid_argument(
        fmt::format("ttl must be at most {} (max_ttl) on this Redis, which may forget grants",
                    base::DurationText(most.count())));
  }

  leases::AcquireOutcome AskOnce(const ScriptArguments& asked, Millis timeout, Millis waited) {
    const About about{.lease = asked[0]};
    auto outcome = ReadAcquired(RunOne(about, AcquireScript(), asked, timeout, true),
                                {.name = asked[0], .term = asked[1], .waited = waited});
    if (std::holds_alternative<leases::Grant>(outcome)) AwaitReplicas(about, timeout);
    return outcome;
  }

  /// First come, first served: each question keeps the place in line, and the last one leaves it.
  leases::AcquireOutcome AskInLine(ScriptArguments asked, Millis wait, Millis timeout) {
    RedisBell& bell = store_->bell();
    RedisBell::Waiter waiter(bell, asked[0]);
    const std::int64_t began_ms = BootClock().NowMs();
    const std::int64_t until_ms = began_ms + wait.count();
    bell.AwaitReady(began_ms + timeout.count(), cancelled_);
    while (true) {
      const std::int64_t sent_ms = BootClock().NowMs();
      asked.back() = sent_ms < until_ms ? "wait" : "leave";
      const auto outcome = AskOnce(asked, timeout, Millis(sent_ms - began_ms));
      const auto* held = std::get_if<leases::HeldByAnother>(&outcome);
      if (held == nullptr || asked.back() == "leave") return outcome;
      const std::int64_t pause_ms = bell.listens() ? kAskAgainMs : kPollMs;
      // The store's milliseconds are cut off: at the deadline it may not be free yet.
      const std::int64_t free_ms = BootClock().NowMs() + held->retry_after.count() + 1;
      waiter.Sleep(std::min({until_ms, sent_ms + pause_ms, free_ms}), cancelled_);
    }
  }

  /// Redis answers when the replicas that were asked for have the writes before.
  void AwaitReplicas(About about, Millis timeout) {
    const int wanted = store_->address().replicas;
    if (wanted == 0) return;
    const std::string count = std::to_string(wanted);
    // It answers up to a tenth of a second late.
    const std::string patience = std::to_string(std::max<std::int64_t>(timeout.count() / 2, 1));
    const auto replies = Ask(about, std::vector<RedisCommand>{{"WAIT", count, patience}},
                             BootClock().NowMs() + timeout.count(), true);
    if (replies[0].is_error()) ThrowRedisError(replies[0], true);
    if (replies[0].integer >= wanted) return;
    about.outcome_unknown = true;
    throw leases::ProviderUnavailable(
        fmt::format("{} of the {} replicas that were asked for have the grant", replies[0].integer,
                    wanted),
        std::move(about));
  }

  RedisReply RunOne(const About& about, const RedisScript& script, ScriptArguments arguments,
                    Millis timeout, bool writes) {
    return std::move(
        Run(about, script, std::vector<ScriptArguments>{std::move(arguments)}, timeout, writes)
            .front());
  }

  /// Runs a script for each of the arguments, at one go.
  std::vector<RedisReply> Run(const About& about, const RedisScript& script,
                              const std::vector<ScriptArguments>& all, Millis timeout,
                              bool writes) {
    const std::int64_t began_ms = BootClock().NowMs();
    const auto count = [&](std::string_view outcome) {
      store_->Count(script.operation, outcome,
                    static_cast<double>(BootClock().NowMs() - began_ms) / 1'000);
    };
    const std::int64_t until_ms = began_ms + timeout.count();
    try {
      // First the connection, then the words: who meets another Redis than before freezes itself,
      // and says so in the very first question.
      Connect(about, until_ms);
      const std::string may_forget = std::to_string(store_->may_forget().count());
      const std::string apart = std::to_string(store_->ApartMs());
      const auto commands = [&](std::string_view verb, std::string_view text,
                                std::span<const ScriptArguments> some) {
        std::vector<RedisCommand> made;
        for (const ScriptArguments& arguments : some) {
          RedisCommand& command = made.emplace_back(
              RedisCommand{verb, text, "0", store_->address().prefix, may_forget, apart});
          command.insert(command.end(), arguments.begin(), arguments.end());
        }
        return made;
      };
      auto replies = Ask(about, commands("EVALSHA", script.sha, all), until_ms, writes);
      std::vector<std::size_t> unknown;  // after a restart the Redis has forgotten the scripts
      for (std::size_t i = 0; i < replies.size(); ++i)
        if (replies[i].is_error() && replies[i].code() == "NOSCRIPT") unknown.push_back(i);
      for (const std::size_t i : unknown)
        replies[i] = std::move(
            Ask(about, commands("EVAL", script.text, {&all[i], 1}), until_ms, writes).front());
      for (const RedisReply& reply : replies)
        if (reply.is_error()) Refuse(about, reply, writes);
      count("done");
      return replies;
    } catch (const leases::LeaseError& error) {
      count(error.outcome_unknown() ? "unknown" : "refused");
      throw;
    }
  }

  [[noreturn]] void Refuse(const About& about, const RedisReply& reply, bool writes) {
    link_.reset();  // it may have become a replica: the next one looks
    try {
      ThrowRedisError(reply, writes);
    } catch (const leases::LeaseError& error) {
      Rethrow(about, error);
    }
  }

  /// The same error, with the name of the lease.
  [[noreturn]] static void Rethrow(About about, const leases::LeaseError& error) {
    about.outcome_unknown = error.outcome_unknown();
    if (dynamic_cast<const leases::AccessDenied*>(&error) != nullptr)
      throw leases::AccessDenied(error.what(), std::move(about));
    if (dynamic_cast<const leases::UnfitStore*>(&error) != nullptr)
      throw leases::UnfitStore(error.what(), std::move(about));
    throw leases::ProviderUnavailable(error.what(), std::move(about));
  }

  /// Makes a connection where there is none that works.
  void Connect(const About& about, std::int64_t until_ms) {
    if (link_ && link_->IsStale()) link_.reset();
    if (link_) return;
    Trying(about, false, [&] { link_ = store_->Connect(cancel_.get(), until_ms); });
    if (std::exchange(connected_, true)) store_->CountReconnect();
  }

  /// REQUIRES: Connect.
  std::vector<RedisReply> Ask(const About& about, const std::vector<RedisCommand>& commands,
                              std::int64_t until_ms, bool writes) {
    std::vector<RedisReply> replies;
    Trying(about, writes, [&] { replies = link_->Ask(commands, until_ms); });
    store_->Heard();
    return replies;
  }

  template <class Act>
  void Trying(const About& about, bool writes, const Act& act) {
    try {
      act();
    } catch (const WireError& error) {
      About what = about;
      what.outcome_unknown = writes && link_ && link_->was_sent();
      link_.reset();
      throw leases::ProviderUnavailable(fmt::format("the Redis: {}", error.what()),
                                        std::move(what));
    } catch (const leases::LeaseError& error) {
      link_.reset();
      Rethrow(about, error);
    }
  }

  const std::shared_ptr<RedisStore> store_;
  const leases::Descriptor cancel_;  // readable: cancelled
  std::atomic<bool> cancelled_ = false;
  std::unique_ptr<RedisLink> link_;  // null: none that works
  bool connected_ = false;           // ever
};

class RedisProvider final : public leases::Provider {
 public:
  explicit RedisProvider(RedisAddress address)
      : store_(std::make_shared<RedisStore>(std::move(address))) {}

  std::string_view name() const override { return "redis"; }
  leases::Guarantees guarantees() const override {
    return {.durable_fence = true,  // from the clock
            .durable_grant = store_->durable(),
            .store_time = true,
            .fifo = true,
            .push = true,
            .crosses_hosts = true};
  }
  std::unique_ptr<leases::Connection> Connect() override {
    return std::make_unique<RedisConnection>(store_);
  }
  std::string advice() const override { return store_->advice(); }
  leases::ProviderStats stats() const override { return store_->stats(); }

 private:
  const std::shared_ptr<RedisStore> store_;
};

}  // namespace

std::unique_ptr<leases::Provider> MakeRedisProvider(RedisAddress address) {
  return std::make_unique<RedisProvider>(std::move(address));
}

}  // namespace tenure::client
