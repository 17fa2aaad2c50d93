#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tenure/queues/errors.hpp"
#include "tenure/queues/message.hpp"

struct pg_conn;  // libpq's PGconn

/// Ordered queues inside of one's own PostgreSQL transactions, on a database that has Tenure's
/// tables. The transaction is the caller's: nothing here begins, ends or retries anything. After an
/// exception it has failed, as after any refused statement: roll it back.
namespace tenure::queues {

/// Puts a message into the transaction: it has its place by the COMMIT, wherever in the transaction
/// this is called, and nobody waits for a transaction that stays open. Returns its id.
/// REQUIRES: a connection that is not in pipeline mode, with nothing under way.
std::string Send(pg_conn* connection, std::string_view queue, const SessionMessage& message);

/// Completes in the transaction of the effect: both happen, or neither. The fence is compared at
/// COMMIT, which fails with SQLSTATE TN001 when another one counts or the message is done.
void Complete(pg_conn* connection, const Delivery& delivery,
              const std::optional<std::string>& state = {});

}  // namespace tenure::queues
