#include "api/sample_requests.hpp"

#include <filesystem>
#include <fstream>
#include <map>

#include "api/calls.hpp"
#include "api/github.hpp"
#include "support/temp_dir.hpp"

namespace tenure::api {

const std::string& PushSettings::KeyFile() {
  static const support::TempDir folder;
  static const std::string path = [] {
    const std::string file = folder / "keys";
    std::ofstream(file) << "k:a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_read);
    return file;
  }();
  return path;
}

std::vector<std::string> PushSettings::Flags(std::vector<std::string> more) {
  more.insert(more.end(), {"--set", std::string("push.allow=") + kAllow, "--set",
                           "secrets.key_file=" + KeyFile()});
  return more;
}

Key SampleRequests::KeyOfTenant() const {
  Key key = NewKey();
  if (!tenant_.empty()) key.tenant = tenant_;
  return key;
}

SampleRequests::Request SampleRequests::RequestOf(const std::string& method,
                                                  const std::string& path) const {
  if (path.starts_with("/api/v1/why/")) return OfWhy(path);
  if (path == "/api/v1/search") {
    Lease lease(api_);
    lease.Acquire({});
    return {path + "?q=" + lease.name(), ""};
  }
  if (path.starts_with("/api/v1/leases/{name}")) return OfLease(path.substr(21));
  if (path.starts_with("/api/v1/tasks/{name}")) return OfTask(path.substr(20));
  if (path.starts_with("/api/v1/inbox/")) return OfInbox(path.substr(14));
  if (path == "/api/v1/leases/renew") return {path, R"({"leases":[]})"};
  if (path.starts_with("/api/v1/messages") || path.starts_with("/api/v1/timers") ||
      path.starts_with("/api/v1/topics") || path.starts_with("/api/v1/dead-letters"))
    return OfMessages(method, path);
  if (path.starts_with("/api/v1/jobs")) return OfJobs(method, path);
  if (path.starts_with("/usage/")) return OfUsage(method, path);
  if (path.starts_with("/api/v1/licenses") || path.starts_with("/api/v1/organizations"))
    return OfSeats(method, path);
  if (path.starts_with("/api/v1/seat-ledger")) return {path, method == "POST" ? "{}" : ""};
  if (path.starts_with("/api/v1/subscriptions")) return OfPush(method, path);
  if (path.starts_with("/api/v1/queues")) return OfQueues(method, path);
  if (path.starts_with("/api/v1/bots") || path.find("/webhooks/") != std::string::npos)
    return OfWebhooks(method, path);
  std::string target = path;
  if (const auto placeholder = path.find("{id}"); placeholder != std::string::npos)
    target.replace(placeholder, 4, api_.Put(KeyOfTenant(), 1).Json()["sessionId"].Text());
  return {target, method == "PUT" ? PutBody(KeyOfTenant(), 1) : ""};
}

/// Of the thing that is shown at a path of its own.
SampleRequests::Request SampleRequests::OfWhy(const std::string& path) const {
  static const std::map<std::string, std::string> shown_at{
      {"lease/{name}", "/api/v1/leases/{name}"},
      {"message/{id}", "/api/v1/messages/{id}"},
      {"topic/{topic}", "/api/v1/topics/{topic}"},
      {"job/{name}", "/api/v1/jobs/{name}"},
      {"subscription/{name}", "/api/v1/subscriptions/{name}"},
      {"seat/{id}", "/api/v1/licenses/sessions/{id}"},
      {"license/{id}", "/api/v1/licenses/{id}"},
      {"session/{id}", "/sessions/{id}"},
      {"task/{name}", "/api/v1/tasks/{name}"},
      {"queue/{queue}", "/api/v1/queues/{queue}"},
      {"queue-session/{id}", "/api/v1/queues/{queue}/sessions/{id}"},
      {"inbox/{id}", "/api/v1/inbox/{source}/{message_id}"},
      {"usage/{window}", "/usage/windows/{window}/records"},
  };
  const std::string kind = path.substr(std::string("/api/v1/why/").size());
  const std::string why = "/api/v1/why/" + kind.substr(0, kind.find('{'));
  if (kind == "instance/{id}") {
    Eventually("a process is known",
               [&] { return api_.Get("/api/v1/instances").Json()["items"].Size() > 0; });
    return {why + api_.Get("/api/v1/instances").Json()["items"][0]["instance"].Text(), ""};
  }
  const std::string target = RequestOf("GET", shown_at.at(kind)).target;
  if (kind == "usage/{window}") return {why + "1", ""};
  const std::string id = target.substr(target.rfind('/') + 1);
  return {why + (kind == "inbox/{id}" ? "s%2F" : "") + id, ""};
}

SampleRequests::Request SampleRequests::OfLease(const std::string& action) const {
  Lease lease(api_);
  const Ask ask;
  lease.Acquire(ask);
  const std::string body = action == "/acquire" ? ask.Body()
                           : action == "/break" ? R"({"reason":"a test"})"
                           : action.empty()     ? ""
                                                : lease.FenceAndTerm();
  return {lease.Path() + action, body};
}

SampleRequests::Request SampleRequests::OfTask(const std::string& action) const {
  const std::string task = "/api/v1/tasks/" + NewUuid();
  const std::string claim =
      R"({"term":")" + NewUuid() + R"(","holder":"me","interval_ms":1000,"lock_timeout_ms":1000})";
  const support::Json lock = api_.Call("POST", task + "/claim", claim).Json()["lock"];
  return {task + action, action == "/claim" ? claim : action == "/finish" ? GrantJson(lock) : "{}"};
}

SampleRequests::Request SampleRequests::OfInbox(const std::string& action) const {
  const std::string id = NewUuid();
  const std::string key = R"({"source":"s","message_id":")" + id + "\"";
  const std::string begin = "/api/v1/inbox/begin";
  if (action == "begin") return {begin, key + "}"};
  const std::string fence =
      std::to_string(api_.Call("POST", begin, key + "}").Json()["fence"].Int());
  if (action.starts_with('{')) return {"/api/v1/inbox/s/" + id, ""};
  return {"/api/v1/inbox/" + action,
          key + R"(,"fence":)" + fence + (action == "fail" ? R"(,"error":"no"})" : "}")};
}

SampleRequests::Request SampleRequests::OfJobs(const std::string& method,
                                               const std::string& path) const {
  const std::string put = R"({"topic":"t","cron":"* * * * *"})";
  if (path == "/api/v1/jobs/preview") return {path, R"({"cron":"0 3 * * *"})"};
  if (path == "/api/v1/jobs") return {path, ""};
  const std::string job = "/api/v1/jobs/" + NewUuid();
  if (method == "PUT" && path == "/api/v1/jobs/{name}") return {job, put};
  api_.Call("PUT", job, put);
  const std::string action = path.substr(std::string("/api/v1/jobs/{name}").size());
  // One that is not paused cannot be resumed.
  if (action == "/resume") api_.Call("POST", job + "/pause", R"({"reason":"a test"})");
  if (action == "/backfill")
    return {job + action, R"({"from":")" + TimeText(WallMs() - 600'000) + R"(","to":")" +
                              TimeText(WallMs() - 60'000) + "\"}"};
  return {job + action, method == "POST" ? "{}" : ""};
}

SampleRequests::Request SampleRequests::OfMessages(const std::string& method,
                                                   const std::string& path) const {
  const Topic topic(api_);
  if (method == "GET" && (path == "/api/v1/messages" || path == "/api/v1/timers")) {
    topic.Send();
    return {path + "?topic=" + "test%2F" + topic.name().substr(5), ""};
  }
  if (path == "/api/v1/dead-letters/{id}") {
    const std::string id = topic.Send();
    topic.Report("fail", topic.Take(), R"(,"error":"hopeless")");
    return {"/api/v1/dead-letters/" + id, ""};
  }
  if (path == "/api/v1/messages") return {path, topic.Message()};
  if (path == "/api/v1/messages/{id}") return {"/api/v1/messages/" + topic.Send(), ""};
  if (path == "/api/v1/messages/claim") return {path, topic.ClaimBody()};
  if (path.starts_with("/api/v1/messages/")) return {path, R"({"claims":[]})"};
  if (path == "/api/v1/timers") return {path, topic.Message(R"(,"delay_ms":60000)")};
  if (path == "/api/v1/timers/{id}") return {"/api/v1/timers/" + topic.SetTimer(60'000), ""};
  if (path == "/api/v1/topics/{topic}") {
    topic.Send();
    return {topic.Path(), method == "PATCH" ? "{}" : ""};
  }
  if (method == "GET") return {path, ""};
  return {path, R"({"topic":")" + topic.name() + "\"}"};
}

/// REQUIRES: the server's windows are of a second or so.
SampleRequests::Request SampleRequests::OfUsage(const std::string& method,
                                                const std::string& path) const {
  api_.Put(KeyOfTenant(), 1);
  Eventually("a window is closed",
             [&] { return api_.Get("/usage/windows").Json()["items"].Size() > 0; });
  if (path == "/usage/windows/{window}/records") return {"/usage/windows/1/records", ""};
  if (path == "/usage/send") return {path, R"({"fromWindow":1})"};
  if (path == "/usage/factors" && method == "POST")
    return {path, R"({"sessionKind":1,"factor":"1"})"};
  return {path, method == "POST" ? "{}" : ""};
}

/// A licence of one seat with a holder, and where it is asked for somebody who waits.
SampleRequests::Request SampleRequests::OfPush(const std::string& method,
                                               const std::string& path) const {
  const std::string base = "/api/v1/subscriptions";
  const std::string name = base + "/" + NewUuid();
  // Nobody listens there.
  const auto wish = [] {
    return R"({"topic":")" + NewUuid() + R"(","url":"https://127.0.0.1:1/hook"})";
  };
  if (path == base) return {path, ""};
  if (method == "PUT" && path == base + "/{name}") return {name, wish()};
  api_.Call("PUT", name, wish());
  return {name + path.substr((base + "/{name}").size()), method == "POST" ? "{}" : ""};
}

SampleRequests::Request SampleRequests::OfSeats(const std::string& method,
                                                const std::string& path) const {
  const std::string base = "/api/v1/licenses";
  if (path.starts_with("/api/v1/organizations")) {
    const std::string id = NewUuid();
    const std::string made = R"({"id":")" + id + R"(","name":"Acme"})";
    if (path == "/api/v1/organizations") return {path, method == "POST" ? made : ""};
    api_.Call("POST", "/api/v1/organizations", made);
    return {"/api/v1/organizations/" + id, method == "PATCH" ? R"({"name":"Acme 2"})" : ""};
  }
  if (path == base) return {path, method == "POST" ? R"({"seats":2})" : ""};
  const support::Json license = api_.Call("POST", base, R"({"seats":1})").Json();
  const std::string id = license["id"].Text();
  const auto ask = [&](const std::string& more) {
    return R"({"license_key":")" + license["license_key"].Text() + R"(","machine_id":")" +
           NewUuid() + "\"" + more + "}";
  };
  if (path == base + "/acquire") return {path, ask("")};
  const std::string session =
      api_.Call("POST", base + "/acquire", ask("")).Json()["session_id"].Text();
  if (path == base + "/heartbeats") return {path, R"({"session_ids":[")" + session + "\"]}"};
  if (path.starts_with(base + "/sessions/{id}"))
    return {base + "/sessions/" + session + path.substr((base + "/sessions/{id}").size()),
            method == "POST" ? "{}" : ""};
  if (path.find("/tickets/") != std::string::npos) {
    const std::string ticket =
        api_.Call("POST", base + "/acquire", ask(R"(,"wait_seconds":1)")).Json()["ticket"].Text();
    return {path.starts_with(base + "/tickets/") ? base + "/tickets/" + ticket
                                                 : base + "/" + id + "/tickets/" + ticket,
            ""};
  }
  const std::string action = path.substr((base + "/{id}").size());
  return {base + "/" + id + action, method == "POST"    ? "{}"
                                    : method == "PATCH" ? R"({"seats":3})"
                                                        : ""};
}

/// One without order, and one whose queue only `send` feeds. Every file has both: a bot that is
/// missing in one takes no more messages.
constexpr const char* kAnyBot =
    R"({"name":"b","events":["*"],"ordering_scope":"none"},)"
    R"({"name":"o","events":[],"ordering_scope":"custom","retry_backoff":"0s"})";

/// A session of a key of its own, with two messages; where it must be, held or parked.
SampleRequests::Request SampleRequests::OfQueues(const std::string& method,
                                                 const std::string& path) const {
  const std::string queue = "/api/v1/queues/o";
  if (const auto now = api_.Get(queue);
      now.status != 200 || now.body.find(R"("state":"active")") == std::string::npos)
    api_.Call("PUT", "/api/v1/bots", R"({"sources":[],"bots":[)" + std::string(kAnyBot) + "]}");
  const std::string key = NewUuid();
  const auto post = [&](const std::string& action, const std::string& body) {
    return api_.Call("POST", queue + action, body).Json();
  };
  const std::string message = R"({"session_key":")" + key + R"(","payload":{"n":1},"dedup_key":")" +
                              NewUuid() + R"(","headers":{"a":"b"}})";
  const std::string accept = R"({"consumer":"me","key":")" + key + "\"}";
  const std::string session = post("/messages", message)["session"].Text();
  post("/messages", R"({"session_key":")" + key + R"(","payload":2})");
  const auto fence = [&] {
    return R"("fence":)" + std::to_string(post("/accept", accept)["sessions"][0]["fence"].Int());
  };
  const auto held = [&](const std::string& more) {
    return R"("session":")" + session + "\"," + fence() + more;
  };
  const auto all_held = [&](const std::string& more = "") {
    return R"({"sessions":[{)" + held(more) + "}]}";
  };
  const auto park = [&] { post("/dead-letter", all_held(R"(,"sequence":1,"error":"no")")); };
  const std::string reason = R"("reason":"a test")";
  const auto only_it = [&](const std::string& more = "") {
    return R"({"session":")" + session + "\"," + reason + more + "}";
  };
  const auto skip = [&] {
    post("/sessions/" + session + "/skip", R"({"sequence":1,)" + reason + "}");
  };
  const std::string action = path.substr(std::string("/api/v1/queues").size());
  if (action.empty()) return {path, ""};
  const std::string of_queue = action.substr(std::string("/{queue}").size());
  if (method == "PATCH" && of_queue.empty()) return {queue, R"({"paused":false,)" + reason + "}"};
  if (method == "DELETE" && of_queue.empty()) {
    // One whose bot was removed while a message waited.
    const auto apply = [&](const std::string& more) {
      api_.Call("PUT", "/api/v1/bots",
                R"({"sources":[],"bots":[)" + std::string(kAnyBot) + more + "]}");
    };
    apply(R"(,{"name":"gone","events":[],"ordering_scope":"custom"})");
    api_.Call("POST", "/api/v1/queues/gone/messages", message);
    apply("");
    return {"/api/v1/queues/gone", ""};
  }
  if (of_queue == "/messages") return {queue + of_queue, message};
  if (of_queue == "/accept") return {queue + of_queue, accept};
  if (of_queue == "/receive") return {queue + of_queue, "{" + held("") + "}"};
  if (of_queue == "/complete" || of_queue == "/abandon" || of_queue == "/dead-letter")
    return {queue + of_queue, all_held(R"(,"sequence":1)")};
  if (of_queue == "/renew" || of_queue == "/release") return {queue + of_queue, all_held()};
  if (of_queue == "/transfer") return {queue + of_queue, R"({"to":"you",)" + all_held().substr(1)};
  if (of_queue == "/resume") {
    park();
    return {queue + of_queue, only_it()};
  }
  if (of_queue == "/dead-letters/replay" || of_queue == "/dead-letters/discard") {
    skip();
    return {queue + of_queue, only_it()};
  }
  if (of_queue == "/replay") {
    post("/complete", all_held(R"(,"sequence":2)"));
    return {queue + of_queue, only_it()};
  }
  constexpr std::string_view kSession = "/sessions/{id}";
  if (!of_queue.starts_with(kSession)) return {queue + of_queue, ""};
  const std::string of_session = of_queue.substr(kSession.size());
  const std::string target = queue + "/sessions/" + session + of_session;
  if (method == "GET") return {target, ""};
  if (of_session == "/state") return {target, "{" + fence() + R"(,"state":"s"})"};
  if (of_session == "/skip") return {target, R"({"sequence":1,)" + reason + "}"};
  if (of_session == "/resume") park();
  if (of_session == "/break") fence();
  return {target, "{" + reason + "}"};
}

/// A webhook of a source that was put in force for it.
SampleRequests::Request SampleRequests::SignedFor(const std::string& source) const {
  static std::map<std::string, GitHub> senders;  // their secrets' files stay
  const GitHub& github = senders.try_emplace(source, source).first->second;
  api_.Call("PUT", "/api/v1/bots", github.Bots(kAnyBot));
  const GitHub::Sent sent;
  return {github.Path(), sent.body, github.HeadersOf(sent)};
}

SampleRequests::Request SampleRequests::OfWebhooks(const std::string& method,
                                                   const std::string& path) const {
  if (path == "/webhooks/github") return SignedFor("github");
  if (path == "/webhooks/github/{source}") return SignedFor("s" + NewUuid());
  if (path == "/api/v1/bots")
    // Without sources: their names are everybody's.
    return {path, method == "PUT" ? R"({"sources":[],"bots":[)" + std::string(kAnyBot) + "]}" : ""};
  if (path == "/api/v1/webhooks/replay") {
    const Request webhook = SignedFor("s" + NewUuid());
    api_.Call("POST", webhook.target, webhook.body, webhook.headers);
    return {path, R"({"queue":"b","events":{"since":"2020-01-01T00:00:00Z"}})"};
  }
  if (path == "/api/v1/webhooks/explain") return {path, R"({"event":"push","payload":{}})"};
  std::string target = path;
  if (const auto placeholder = path.find("{id}"); placeholder != std::string::npos) {
    const Request webhook = SignedFor("s" + NewUuid());
    target.replace(
        placeholder, 4,
        api_.Call("POST", webhook.target, webhook.body, webhook.headers).Json()["event_id"].Text());
  }
  return {target, ""};
}

}  // namespace tenure::api
