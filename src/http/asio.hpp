#pragma once

// The few words of Asio that http/ speaks. Concrete executor types: the erased default costs an
// indirect call and often an allocation per operation.

#include <chrono>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace tenure::http {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;
using IoExecutor = asio::io_context::executor_type;
using Tcp = asio::ip::tcp;
using Socket = asio::basic_stream_socket<Tcp, IoExecutor>;
using Acceptor = asio::basic_socket_acceptor<Tcp, IoExecutor>;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, IoExecutor>;

}  // namespace tenure::http
