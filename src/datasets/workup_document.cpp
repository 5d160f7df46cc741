#include <boost/json/array.hpp>
#include <fmt/format.h>

#include "base/log.hpp"
#include "datasets/workup.hpp"

namespace proteus::datasets {
namespace {

using boost::json::array;
using boost::json::object;

array write(const Citations& cites) { return array(cites.begin(), cites.end()); }

object write(const Reference& reference) {
  return {{"ref", reference.ref}, {"id", reference.id}, {"type", reference.type}, {"name", reference.name}};
}

object write(const std::vector<std::pair<std::string, Value>>& values) {
  object out;
  for (const auto& [name, value] : values)
    out[name] = to_json(value);
  return out;
}

object write(const Neighbourhood& around) {
  array nodes;
  nodes.reserve(around.nodes.size());
  for (const auto& node : around.nodes) {
    object one = write(node.reference);
    one.emplace("hops", node.hops);
    one.emplace("cites", write(node.cites));
    nodes.push_back(std::move(one));
  }
  array edges;
  edges.reserve(around.edges.size());
  for (const auto& edge : around.edges)
    edges.push_back(object{{"from", edge.from}, {"type", edge.type}, {"to", edge.to}, {"cites", write(edge.cites)}});
  return {
      {"nodes", std::move(nodes)}, {"edges", std::move(edges)}, {"hops", around.hops}, {"truncated", around.truncated}};
}

// What comes from the source stays on its line, whatever it says.
std::string line(std::string_view text, std::size_t limit = 500) { return log::printable(text, limit); }

std::string cited(const Citations& cites) {
  std::string out;
  for (const auto& id : cites)
    out += fmt::format(" [{}]", id);
  return out;
}

std::string shown(const Reference& reference) {
  return fmt::format("{} ({}, {})", line(reference.name), line(reference.type), line(reference.ref));
}

}  // namespace

std::string_view to_string(WorkupStatus status) {
  switch (status) {
    case WorkupStatus::found: return "found";
    case WorkupStatus::ambiguous: return "ambiguous";
    case WorkupStatus::not_found: return "not_found";
  }
  return "not_found";
}

std::string_view to_string(Resolution resolution) {
  switch (resolution) {
    case Resolution::ref: return "ref";
    case Resolution::id: return "id";
    case Resolution::name: return "name";
    case Resolution::alias: return "alias";
    case Resolution::without_case: return "case_insensitive";
    case Resolution::prefix: return "prefix";
  }
  return "id";
}

std::string_view to_string(Gap::Kind kind) {
  switch (kind) {
    case Gap::Kind::missing: return "missing";
    case Gap::Kind::dangling: return "dangling";
    case Gap::Kind::truncated: return "truncated";
    case Gap::Kind::cut: return "cut";
    case Gap::Kind::not_text: return "not_text";
    case Gap::Kind::no_id: return "no_id";
    case Gap::Kind::more_candidates: return "more_candidates";
  }
  return "missing";
}

object write_workup(const Workup& workup) {
  object out{{"status", to_string(workup.status)}, {"dataset", workup.dataset}};
  if (workup.resolution) {
    out.emplace("resolution", to_string(*workup.resolution));
  } else {
    out.emplace("resolution", nullptr);
  }
  array candidates;
  for (const auto& candidate : workup.candidates) {
    object one = write(candidate.reference);
    one.emplace("cites", write(candidate.cites));
    candidates.push_back(std::move(one));
  }
  out.emplace("candidates", std::move(candidates));
  if (workup.entity) {
    object entity = write(*workup.entity);
    entity.emplace("attributes", write(workup.attributes));
    entity.emplace("cites", write(workup.entity_cites));
    out.emplace("entity", std::move(entity));
  } else {
    out.emplace("entity", nullptr);
  }
  array relationships;
  relationships.reserve(workup.relationships.size());
  for (const auto& one : workup.relationships) {
    relationships.push_back(object{{"type", one.type},
                                   {"direction", to_string(one.direction)},
                                   {"peer", write(one.peer)},
                                   {"cites", write(one.cites)}});
  }
  out.emplace("relationships", std::move(relationships));
  out.emplace("neighbourhood", write(workup.neighbourhood));
  array gaps;
  for (const auto& gap : workup.gaps)
    gaps.push_back(object{{"kind", to_string(gap.kind)}, {"message", gap.message}, {"cites", write(gap.cites)}});
  out.emplace("gaps", std::move(gaps));
  array provenance;
  provenance.reserve(workup.provenance.size());
  for (const auto& one : workup.provenance) {
    provenance.push_back(
        object{{"id", one.id}, {"table", one.table}, {"operation", one.operation}, {"keys", write(one.keys)}});
  }
  out.emplace("provenance", std::move(provenance));
  out.emplace("mapping_sha256", workup.mapping_sha256);
  return out;
}

std::string describe_workup(const Workup& workup) {
  std::string out;
  if (workup.status == WorkupStatus::not_found) {
    out = fmt::format(
        "Nothing in the dataset {} is called {}.\nIds, names and aliases were tried, without case and by "
        "their beginning. Try another spelling, or a part of the name from its beginning.\n",
        workup.dataset, line(workup.asked));
  }
  if (workup.status == WorkupStatus::ambiguous) {
    out = fmt::format("{} may be any of these; ask again with the ref of the one that is meant:\n", line(workup.asked));
    for (const auto& candidate : workup.candidates)
      out += fmt::format("- {}{}\n", shown(candidate.reference), cited(candidate.cites));
  }
  if (workup.entity) {
    out = fmt::format("{}, found by {}{}\n", shown(*workup.entity), to_string(*workup.resolution),
                      cited(workup.entity_cites));
    for (const auto& [name, value] : workup.attributes) {
      if (!is_null(value))
        out += fmt::format("- {}: {}{}\n", line(name), line(to_text(value), limits::kCellBytes),
                           cited(workup.entity_cites));
    }
    if (!workup.relationships.empty()) out += "\nRelationships\n";
    for (const auto& one : workup.relationships) {
      out += fmt::format("- {} {} {}{}\n", one.direction == Direction::outgoing ? "→" : "←", line(one.type),
                         shown(one.peer), cited(one.cites));
    }
    if (workup.neighbourhood.hops > 1) {
      out += fmt::format("\nWithin {} hops: {} entities, {} relationships{}\n", workup.neighbourhood.hops,
                         workup.neighbourhood.nodes.size(), workup.neighbourhood.edges.size(),
                         workup.neighbourhood.truncated ? ", and more that is not shown" : "");
      for (const auto& edge : workup.neighbourhood.edges)
        out += fmt::format("- {} {} {}{}\n", line(edge.from), line(edge.type), line(edge.to), cited(edge.cites));
    }
  }
  if (!workup.gaps.empty()) out += "\nGaps\n";
  for (const auto& gap : workup.gaps)
    out += fmt::format("- {}{}\n", line(gap.message), cited(gap.cites));
  if (!workup.provenance.empty()) out += "\nSources\n";
  for (const auto& one : workup.provenance) {
    std::string keys;
    for (const auto& [name, value] : one.keys)
      keys += fmt::format("{}{} = {}", keys.empty() ? "" : ", ", line(name), line(to_text(value)));
    out += fmt::format("[{}] {}: {} ({})\n", one.id, line(one.table), keys, line(one.operation));
  }
  out += fmt::format("\nDataset {}, mapping {}\n", workup.dataset, workup.mapping_sha256.substr(0, 12));
  return out;
}

}  // namespace proteus::datasets
