#include "base/log/stranger_log.hpp"

#include <array>
#include <span>
#include <vector>

namespace proteus {
namespace {

const SystemClock system_clock;

log::Field unwritten_field(std::uint64_t unwritten) {
  return {"unwritten", unwritten > 0 ? std::to_string(unwritten) : std::string()};
}

}  // namespace

StrangerLog::StrangerLog(std::string name) : StrangerLog(std::move(name), system_clock) {}

StrangerLog::~StrangerLog() {
  if (const auto unwritten = lines_.take_unwritten(); unwritten > 0)
    log::info("{}: {} more lines about it are left out", log::printable(name_), unwritten);
}

void StrangerLog::event(log::Level level, std::string_view message, std::initializer_list<log::Field> fields,
                        const std::source_location& where) {
  const auto unwritten = take(level, where);
  if (!unwritten) return;
  std::vector<log::Field> all(fields);
  for (auto& field : all)
    field.value = log::printable(field.value, kMaxLine);
  all.push_back(unwritten_field(*unwritten));
  log::write(level, message, all, where);
}

void StrangerLog::write(log::Level level, std::string_view between, std::string_view message, std::uint64_t unwritten,
                        const std::source_location& where) {
  const std::array fields = {unwritten_field(unwritten)};
  log::write(level, fmt::format("{}{}{}", name_, between, log::printable(message, kMaxLine)), fields, where);
}

}  // namespace proteus
