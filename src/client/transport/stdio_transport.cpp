#include "client/transport/stdio_transport.hpp"

#include <algorithm>

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/tasks/task_group.hpp"
#include "client/transport/channel.hpp"
#include "net/process/process.hpp"

namespace proteus::client {
namespace {

class StdioTransport final : public Channel {
 public:
  StdioTransport(boost::asio::io_context& io, net::Command command, const Options& options, Inbox& inbox)
      : Channel(io.get_executor(), inbox, options.log),
        io_(io),
        command_(std::move(command)),
        options_(options),
        tasks_(io.get_executor()) {}

  Task<Result<>> start() override {
    if (options_.admit_program) {
      auto place = co_await options_.admit_program();
      if (!place) co_return std::unexpected(std::move(place.error()));
      place_ = std::move(*place);
    }
    net::ProcessOptions settings;
    settings.max_line_bytes = options_.limits.message_bytes;
    settings.on_stderr_line = options_.on_stderr_line;
    auto process = net::Process::spawn(io_, command_, std::move(settings));
    if (!process) co_return std::unexpected(std::move(process.error()));
    process_ = std::make_unique<net::Process>(std::move(*process));
    tasks_.spawn("reading a program", read());
    co_return Result<>{};
  }

  bool has_headers() const override { return false; }

  Task<> close() override {
    fail(errors::cancelled("the connection"));
    if (process_) co_await process_->terminate(options_.grace);
    tasks_.cancel();
    co_await tasks_.join();
    place_.reset();
  }

 private:
  Task<> read() {
    json::ScanLimits limits;
    limits.bytes = options_.limits.message_bytes;
    for (;;) {
      auto line = co_await process_->read_line();
      if (!line) co_return fail(naming_limit(line.error(), limits.bytes));
      if (!*line) co_return fail(co_await ended());
      if (is_for_background((*line)->size(), options_.background))
        co_await take_aside(*options_.background, {**line, process_->take_memory()}, limits);
      else if (!(*line)->empty())
        take(**line, limits);
    }
  }

  // Returns the error for closed output. Most programs have exited by then, or are about to.
  Task<Error> ended() {
    Deadline soon(executor(), std::chrono::milliseconds(200), {});
    const auto status = co_await before(soon, exit_status(), "the exit");
    co_return errors::interrupted(fmt::format("{} {}", log::printable(command_.argv.front()),
                                              status ? net::to_string(*status) : std::string("closed its output")));
  }
  Task<Result<net::ExitStatus>> exit_status() { co_return co_await process_->wait(); }

  Task<Result<>> write(const Outgoing& message) override {
    if (!process_) co_return std::unexpected(errors::unreachable("the program was not started"));
    std::vector<std::string_view> parts(message.parts.begin(), message.parts.end());
    // Line ends are white space in JSON, but must not be within a line.
    std::string flat;
    const auto breaks = [](std::string_view part) {
      return part.find('\n') != std::string_view::npos || part.find('\r') != std::string_view::npos;
    };
    if (std::ranges::any_of(parts, breaks)) {
      for (const auto part : parts)
        flat += part;
      std::ranges::replace_if(flat, [](char c) { return c == '\n' || c == '\r'; }, ' ');
      parts.assign(1, flat);
    }
    parts.emplace_back("\n");
    co_return co_await process_->write(parts);
  }

  boost::asio::io_context& io_;
  net::Command command_;
  const Options& options_;
  std::shared_ptr<void> place_;
  std::unique_ptr<net::Process> process_;
  TaskGroup tasks_;
};

}  // namespace

std::unique_ptr<Transport> stdio_transport(boost::asio::io_context& io, net::Command command, const Options& options,
                                           Inbox& inbox) {
  return std::make_unique<StdioTransport>(io, std::move(command), options, inbox);
}

}  // namespace proteus::client
