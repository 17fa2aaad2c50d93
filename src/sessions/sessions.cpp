#include "sessions/sessions.hpp"

#include "db/submit.hpp"
#include "sessions/json.hpp"

namespace tenure::sessions {
using db::SubmitTo;

Sessions::Sessions(db::Store& store, const Options& options, telemetry::Registry& metrics)
    : store_(store),
      options_(options),
      probe_(metrics),
      put_(options.duration_ms, probe_),
      put_once_("sessions.put_once", put_, PutAnswer),
      end_(probe_) {}

void Sessions::Put(const PutRequest& request, const base::Caller& caller, Callback<PutReply> done) {
  const std::size_t hash = KeyHash()(request.key);
  SubmitTo(store_.WriteLane(hash), put_, caller, hash, request, std::move(done));
}

void Sessions::PutOnce(const PutRequest& request, db::OnceKey key, const base::Caller& caller,
                       Callback<db::OnceReply> done) {
  const std::size_t hash = KeyHash()(request.key);
  SubmitTo(store_.WriteLane(hash), put_once_, caller, hash,
           db::OnceRequest<PutRequest>{request, std::move(key)}, std::move(done));
}

void Sessions::Find(const base::Uuid& id, base::Executor* home, Callback<FindReply> done) {
  SubmitTo(store_.ReadLane(), find_, home, 0, FindRequest{id}, std::move(done));
}

void Sessions::List(const ListRequest& request, base::Executor* home, Callback<ListReply> done) {
  SubmitTo(store_.ReadLane(), list_, home, 0, request, std::move(done));
}

void Sessions::End(const EndRequest& request, const base::Caller& caller, Callback<EndReply> done) {
  const std::size_t hash = KeyHash()(request.key);
  SubmitTo(store_.WriteLane(hash), end_, caller, hash, request, std::move(done));
}

void Sessions::ExpireSome(const base::Caller& caller, Callback<BackgroundReply> done) {
  SubmitTo(store_.WriteLane(0), expire_, caller, 0, ExpireRequest{}, std::move(done));
}

void Sessions::RemoveSome(const base::Caller& caller, Callback<BackgroundReply> done) {
  SubmitTo(store_.WriteLane(0), remove_, caller, 0, RemoveRequest{options_.retention_ms},
           std::move(done));
}

void Sessions::CountActive(Callback<CountReply> done) {
  SubmitTo(store_.ReadLane(), count_, nullptr, 0, CountRequest{}, std::move(done));
}

}  // namespace tenure::sessions
