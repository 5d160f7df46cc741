#include "app/config/log_settings.hpp"

namespace proteus::app {
namespace {

json::Codec<log::Level> level() {
  using log::Level;
  std::vector<std::pair<std::string, Level>> words;
  for (const Level each :
       {Level::trace, Level::debug, Level::info, Level::warning, Level::error, Level::critical, Level::off})
    words.emplace_back(log::to_string(each), each);
  return json::choice<Level>(std::move(words));
}

}  // namespace

const json::Binding<log::Settings>& log_binding() {
  using S = log::Settings;
  using json::field;
  static const json::Binding<S> binding{
      field("level", &S::level, level(), "Lowest level to write."),
      field("modules", &S::modules, json::map<log::Level>(level(), "levels", log::check_module),
            "Levels for single modules, such as `{ gateway = \"debug\" }`."),
      field("format", &S::format, json::choice<log::Format>({{"text", log::Format::text}, {"json", log::Format::json}}),
            "Format of a line."),
  };
  return binding;
}

}  // namespace proteus::app
