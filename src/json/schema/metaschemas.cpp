#include "json/schema/metaschemas.hpp"

#include <map>
#include <string>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include "base/embedded.hpp"
#include "json/schema/uri.hpp"

namespace proteus::json {

// The files of metaschemas/, embedded by the build.
std::span<const EmbeddedFile> embedded_metaschemas();

}  // namespace proteus::json

namespace proteus::json::schema {
namespace {

using Metaschemas = std::map<std::string, boost::json::value, std::less<>>;

Metaschemas parse_all() {
  Metaschemas all;
  for (const EmbeddedFile& file : embedded_metaschemas()) {
    boost::json::value document =
        boost::json::parse(boost::json::string_view(file.content.data(), file.content.size()));
    const auto& id = document.as_object().at("$id").as_string();
    const std::string uri(split_fragment(id).uri);
    all.emplace(uri, std::move(document));
  }
  return all;
}

}  // namespace

const boost::json::value* find_metaschema(std::string_view uri) {
  static const Metaschemas all = parse_all();
  const auto found = all.find(uri);
  return found == all.end() ? nullptr : &found->second;
}

}  // namespace proteus::json::schema
