#include "gateway/identity/resources.hpp"

#include "base/settings/names.hpp"

namespace proteus::gateway {
namespace {

constexpr std::string_view kEndpoint = "/mcp";
constexpr std::string_view kAdmin = "/admin";

std::string_view without_slash(std::string_view path) {
  if (path.ends_with('/')) path.remove_suffix(1);
  return path;
}

}  // namespace

Resources::Resources(const net::Url& public_url)
    : origin_(public_url.origin()), path_(without_slash(public_url.target())), base_(origin_ + path_) {}

std::string Resources::endpoint(std::string_view context) const {
  std::string name = base_;
  name += kEndpoint;
  if (!context.empty()) (name += '/') += context;
  return name;
}

std::vector<std::string> Resources::accepted_at(std::string_view context) const {
  return {base_, base_ + "/", endpoint(context)};
}

std::string Resources::metadata_url(std::string_view resource) const {
  std::string url = origin_;
  url += kWellKnown;
  url += resource.substr(origin_.size());
  return url;
}

std::optional<std::string> Resources::resource_at(std::string_view path) const {
  if (!path.starts_with(kWellKnown)) return std::nullopt;
  path = without_slash(path.substr(kWellKnown.size()));
  // A proxy in front of the gateway may remove the path of the public URL.
  const bool is_below = path.starts_with(path_) && (path.size() == path_.size() || path[path_.size()] == '/');
  if (is_below) path.remove_prefix(path_.size());
  if (path.empty()) return base_;
  if (path == kAdmin) return admin();
  if (path == kEndpoint) return endpoint("");
  if (!path.starts_with(kEndpoint) || path[kEndpoint.size()] != '/') return std::nullopt;
  const std::string_view context = path.substr(kEndpoint.size() + 1);
  if (!check_name(context)) return std::nullopt;
  return endpoint(context);
}

}  // namespace proteus::gateway
