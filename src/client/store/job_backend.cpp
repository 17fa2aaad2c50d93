#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "client/backends.hpp"
#include "client/store/call.hpp"
#include "client/store/message_store.hpp"
#include "http/answering.hpp"
#include "http/json_fields.hpp"
#include "jobs/jobs.hpp"
#include "jobs/json.hpp"
#include "jobs/problems.hpp"
#include "jobs/requests.hpp"

namespace tenure::client {
namespace {

using jobs::JobCommand;
using jobs::JobOutcome;

constexpr std::int64_t kPollMaxMs = 1'000;
/// As a server's where nothing else is configured.
constexpr std::size_t kPayloadMaxBytes = 1 << 20;

/// A body that can be read as a request's.
class Padded {
 public:
  explicit Padded(const std::string& body) {
    text_.reserve(body.size() + http::Request::kBodyPadding);
    text_ = body;
  }
  std::string_view view() const { return text_; }

 private:
  std::string text_;
};

class StoreJobs final : public JobBackend {
 public:
  StoreJobs(const StoreAddress& address, const JobBackendOptions& options)
      : timeout_(options.timeout),
        store_(address),
        jobs_(store_.lanes(), store_.messages(), store_.store().wake(), {},
              store_.store().metrics()),
        scheduler_(jobs_, kPollMaxMs) {
    if (options.fires) scheduler_.Start();
  }
  /// Nothing of the jobs is called any more when they go.
  ~StoreJobs() override {
    scheduler_.Stop();
    store_.Stop();
  }
  StoreJobs(const StoreJobs&) = delete;
  StoreJobs& operator=(const StoreJobs&) = delete;

  Answer Put(const std::string& name, const std::string& body,
             std::optional<std::int64_t> revision) override {
    return Answering([&] {
      jobs::PutCommand put;
      put.definition = jobs::ReadPut(Padded(body).view(), kPayloadMaxBytes, *jobs_.zones().Get());
      jobs::CheckJobName(name);
      put.key = KeyOf(name);
      put.if_revision = revision;
      return Carry(std::move(put), name, [&](const JobOutcome& outcome) {
        return Show(name, outcome.kind == JobOutcome::Kind::kCreated ? 201 : 200);
      });
    });
  }

  Answer Get(const std::string& name) override {
    return Answering([&] { return Show(name, 200); });
  }

  Answer List(const std::string& after, int limit) override {
    jobs::JobsRequest request;
    request.tenant = kJobsTenant;
    request.after = after;
    request.limit = limit;
    return {200, {}, jobs::JobsJson(AskList(std::move(request)))};
  }

  Answer Preview(const std::string& body) override {
    return Answering([&]() -> Answer {
      return {200,
              {},
              jobs::PreviewJson(Padded(body).view(), *jobs_.zones().Get(),
                                base::SystemClock().WallMs())};
    });
  }

  Answer Delete(const std::string& name) override {
    return Answering([&] {
      return Carry(jobs::DeleteCommand{KeyOf(name)}, name, [](const JobOutcome&) {
        return Answer{204, {}, {}};
      });
    });
  }

  Answer Trigger(const std::string& name, const std::string& body,
                 const std::string& key) override {
    return Answering([&]() -> Answer {
      JobCommand trigger = jobs::ReadTrigger(KeyOf(name), Padded(body).view(), kPayloadMaxBytes);
      const auto triggered = [](const JobOutcome& outcome) {
        return Answer{201, {}, jobs::TriggeredJson(outcome)};
      };
      if (key.empty()) return Carry(std::move(trigger), name, triggered);
      const base::IdempotencyKey once{fmt::format("library/triggerJob/{}", key),
                                      fmt::format("{}:{}{}", name.size(), name, body)};
      const auto reply = Ask<base::IdempotentReply<JobOutcome>>(timeout_, {}, [&](auto done) {
        jobs_.ChangeOnce({std::move(trigger), once}, nullptr, std::move(done));
      });
      if (const auto* outcome = std::get_if<JobOutcome>(&reply))
        return Told(*outcome, name, triggered);
      if (const auto* before = std::get_if<base::StoredAnswer>(&reply))
        return {static_cast<int>(before->status), {}, before->body};
      if (std::holds_alternative<base::KeyUnderWay>(reply))
        throw CallFailed(CallFailed::Kind::kUnavailable,
                         "the first call with this key is under way", true);
      return Refusal(http::KeyOfAnotherRequest());
    });
  }

  Answer Backfill(const std::string& name, const std::string& body) override {
    return Answering([&] {
      return Carry(jobs::ReadBackfill(KeyOf(name), Padded(body).view()), name,
                   [](const JobOutcome& outcome) {
                     return Answer{201, {}, jobs::BackfilledJson(outcome)};
                   });
    });
  }

  Answer Pause(const std::string& name, const std::string& body) override {
    return Answering([&] {
      return Carry(jobs::ReadPause(KeyOf(name), Padded(body).view()), name,
                   [&](const JobOutcome&) { return Show(name, 200); });
    });
  }

  Answer Resume(const std::string& name) override {
    return Answering([&] {
      return Carry(jobs::ResumeCommand{KeyOf(name)}, name,
                   [&](const JobOutcome&) { return Show(name, 200); });
    });
  }

  Answer Runs(const std::string& name, std::string_view status, int limit) override {
    return Answering([&]() -> Answer {
      const Answer job = Show(name, 200);
      if (job.status != 200) return job;
      jobs::RunsRequest request;
      request.key = KeyOf(name);
      request.limit = limit;
      using enum jobs::RunStatus;
      request.status =
          http::OneOf(status, {kReady, kWaiting, kClaimed, kRetrying, kDone, kDead, kSkipped});
      return {200, {}, jobs::RunsJson(Ask<db::Page<jobs::RunView>>(timeout_, {}, [&](auto done) {
                jobs_.ListRuns(std::move(request), nullptr, std::move(done));
              }))};
    });
  }

 private:
  static constexpr const char* kJobsTenant = "default";
  static jobs::JobKey KeyOf(const std::string& name) { return {kJobsTenant, name}; }

  static Answer Refusal(const http::Problem& problem) {
    http::Response response = http::ToResponse(problem, "");
    return {response.status, {}, std::move(response.body)};
  }
  template <class Work>
  static Answer Answering(const Work& work) {
    try {
      return work();
    } catch (const http::ProblemError& error) {
      return Refusal(error.problem());
    }
  }

  template <class Then>
  Answer Carry(JobCommand command, const std::string& name, const Then& then) {
    return Told(Ask<JobOutcome>(
                    timeout_, {},
                    [&](auto done) { jobs_.Change(std::move(command), nullptr, std::move(done)); }),
                name, then);
  }
  template <class Then>
  static Answer Told(const JobOutcome& outcome, const std::string& name, const Then& then) {
    if (jobs::IsProblem(outcome.kind)) return Refusal(jobs::ProblemOf(outcome, name));
    return then(outcome);
  }

  db::Page<jobs::JobView> AskList(jobs::JobsRequest request) {
    return Ask<db::Page<jobs::JobView>>(
        timeout_, {}, [&](auto done) { jobs_.List(std::move(request), nullptr, std::move(done)); });
  }
  Answer Show(const std::string& name, int status) {
    jobs::JobsRequest request;
    request.tenant = kJobsTenant;
    request.name = name;
    request.limit = 1;
    if (name.empty()) return Refusal(jobs::UnknownJob(name));
    const auto page = AskList(std::move(request));
    if (page.rows.empty()) return Refusal(jobs::UnknownJob(name));
    return {status, {}, jobs::JobJson(page.rows.front(), page.now_ms, jobs_.zones().Get().get())};
  }

  const Milliseconds timeout_;
  MessageStore store_;
  jobs::Jobs jobs_;
  jobs::Scheduler scheduler_;
};

}  // namespace

std::unique_ptr<JobBackend> MakeStoreJobs(const StoreAddress& address,
                                          const JobBackendOptions& options) {
  return std::make_unique<StoreJobs>(address, options);
}

}  // namespace tenure::client
