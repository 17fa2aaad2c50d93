#pragma once

#include <string>

#include "tenure/messages/errors.hpp"
#include "tenure/messages/message.hpp"

struct pg_conn;  // libpq's PGconn

/// Messages inside of one's own PostgreSQL transactions, on a database that has Tenure's tables
/// (`Open` and every server make them). The transaction is the caller's: nothing here begins, ends
/// or retries anything.
///
/// After an exception the transaction has failed, as after any refused statement: roll it back.
/// Unavailable carries what PostgreSQL said; std::invalid_argument comes before anything is sent.
namespace tenure::messages {

/// Puts a message into the transaction: it is sent if and when that commits, and never otherwise
/// (M1). Returns its id; with a dedup key possibly that of the earlier one.
/// REQUIRES: a connection that is not in pipeline mode, with nothing under way.
std::string Enqueue(pg_conn* connection, const Message& message);

/// Acknowledges in the transaction of the effect: both happen, or neither. So the effect happens
/// exactly once, whatever crashes.
///
/// Throws StaleClaim when the claim is not the live one any more; the caller rolls back, for
/// whoever has the message now has the effect as well. Until the transaction ends nobody else can
/// claim the message.
void Acknowledge(pg_conn* connection, const Delivery& delivery);

}  // namespace tenure::messages
