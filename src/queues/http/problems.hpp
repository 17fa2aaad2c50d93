#pragma once

#include "http/answering.hpp"
#include "http/message.hpp"
#include "queues/message.hpp"

namespace tenure::queues {

/// The queue in the path. Throws a 400 when it cannot be one.
std::string QueueOf(const http::ExchangePtr& exchange);

/// The session in the path; the same.
base::Uuid SessionOf(const http::ExchangePtr& exchange);

http::Problem UnknownQueue(const http::ExchangePtr& exchange);
http::Problem UnknownQueueSession();
http::Problem UnorderedQueue(const http::ExchangePtr& exchange);
/// Its bot is there.
http::Problem ActiveQueue(const http::ExchangePtr& exchange);
http::Problem DrainingQueue(const http::ExchangePtr& exchange);
http::Problem FullQueue(const http::ExchangePtr& exchange);
/// A chosen session that is not to be had, or not as it must be.
http::Problem SessionUnavailable(const NotToBeHad& why);
/// An operator's act that the session's state does not allow.
http::Problem SessionUnavailable(const SessionRow& row);
/// A message that cannot go back to its place.
http::Problem OrderLost(std::string_view why);
http::Problem SessionLost(const ReportOutcome& outcome);

}  // namespace tenure::queues
