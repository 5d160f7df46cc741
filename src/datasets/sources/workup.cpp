#include "datasets/sources/workup.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <ranges>

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "datasets/sources/row_reader.hpp"

namespace proteus::datasets {
namespace {

constexpr std::size_t kMaxCandidates = 20;
constexpr std::size_t kPeersAfterTheFirstHop = 50;

struct EdgeKey {
  const Reference* from;
  const RelationshipMapping* relationship;
  const Reference* to;

  friend bool operator==(const EdgeKey&, const EdgeKey&) = default;

  struct Hash {
    std::size_t operator()(const EdgeKey& key) const {
      std::size_t seed = 0;
      boost::hash_combine(seed, key.from);
      boost::hash_combine(seed, key.relationship);
      boost::hash_combine(seed, key.to);
      return seed;
    }
  };
};

class Work {
 public:
  Work(const Plan& plan, Source& source, const WorkupRequest& request)
      : plan_(plan), request_(request), reader_(source, workup_) {
    workup_.dataset = plan.mapping().name;
    workup_.asked = request.entity;
    workup_.mapping_sha256 = plan.sha256();
    workup_.neighbourhood.hops = request.hops;
  }

  Result<Workup> run() {
    auto nodes = resolve();
    if (!nodes) return std::unexpected(std::move(nodes.error()));
    if (nodes->size() != 1) {
      list_candidates(*nodes);
      return std::move(workup_);
    }
    workup_.status = WorkupStatus::found;
    describe(nodes->front());
    if (auto looked = look_around(nodes->front()); !looked) return std::unexpected(std::move(looked.error()));
    return std::move(workup_);
  }

 private:
  bool is_wanted(const EntityPlan& plan) const { return request_.type.empty() || plan.entity->type == request_.type; }

  // The first way that finds anything decides. Everything that it finds is a candidate.
  Result<std::vector<Node>> resolve() {
    for (const Resolution way : {Resolution::ref, Resolution::id, Resolution::name, Resolution::alias,
                                 Resolution::without_case, Resolution::prefix}) {
      std::vector<Node> found;
      for (const EntityPlan& plan : plan_.entities()) {
        if (!is_wanted(plan) || found.size() > kMaxCandidates) continue;
        auto nodes = resolve(plan, way);
        if (!nodes) return std::unexpected(std::move(nodes.error()));
        std::ranges::move(*nodes, std::back_inserter(found));
      }
      if (found.empty()) continue;
      workup_.resolution = way;
      return found;
    }
    return std::vector<Node>{};
  }

  Result<std::vector<Node>> resolve(const EntityPlan& plan, Resolution way) {
    const EntityMapping& entity = *plan.entity;
    const std::string& asked = request_.entity;
    std::vector<Condition> any_of;
    const auto add = [&](const std::string& column, Comparison comparison, const std::string& text) {
      if (!column.empty()) any_of.push_back({column, comparison, text_value(text)});
    };
    switch (way) {
      case Resolution::ref:
        if (asked.starts_with(entity.table + "/"))
          add(entity.id_column, Comparison::equal, asked.substr(entity.table.size() + 1));
        break;
      case Resolution::id: add(entity.id_column, Comparison::equal, asked); break;
      case Resolution::name: add(entity.name_column, Comparison::same_text, asked); break;
      case Resolution::alias:
        for (const auto& column : entity.alias_columns)
          add(column, Comparison::same_text, asked);
        break;
      case Resolution::without_case:
        add(entity.name_column, Comparison::equal_without_case, asked);
        for (const auto& column : entity.alias_columns)
          add(column, Comparison::equal_without_case, asked);
        break;
      case Resolution::prefix: add(entity.name_column, Comparison::begins_with, asked); break;
    }
    if (any_of.empty()) return std::vector<Node>{};
    auto nodes = reader_.find(plan, std::move(any_of), kMaxCandidates + 1, operation_of(way));
    if (!nodes) return nodes;
    // Databases compare ids in their own way: "007" is the number 7, and some columns ignore case.
    std::erase_if(*nodes, [&](const Node& node) { return !is_exact(node, way); });
    return nodes;
  }

  bool is_exact(const Node& node, Resolution way) const {
    if (way == Resolution::ref) return node.reference->ref == request_.entity;
    if (way == Resolution::id) return node.reference->id() == request_.entity;
    return true;
  }

  static std::string_view operation_of(Resolution way) {
    switch (way) {
      case Resolution::ref:
      case Resolution::id: return "lookup by id";
      case Resolution::name: return "lookup by name";
      case Resolution::alias: return "lookup by alias";
      case Resolution::without_case: return "lookup by name or alias, without case";
      case Resolution::prefix: return "lookup by the beginning of the name";
    }
    return "lookup";
  }

  void list_candidates(std::vector<Node>& nodes) {
    workup_.status = nodes.empty() ? WorkupStatus::not_found : WorkupStatus::ambiguous;
    if (nodes.size() > kMaxCandidates) {
      nodes.resize(kMaxCandidates);
      reader_.gap(Gap::Kind::more_candidates,
                  fmt::format("more than {} entities fit; only these are shown", kMaxCandidates));
    }
    workup_.candidates.reserve(nodes.size());
    for (const Node& node : nodes)
      workup_.candidates.push_back(node.reference);
  }

  void describe(const Node& node) {
    workup_.entity = node.reference;
    const Citations cites = {node.reference->cite};
    workup_.attributes.reserve(node.plan->attributes.size());
    for (const auto& [name, index] : node.plan->attributes) {
      const Value& value = node.row[index];
      workup_.attributes.emplace_back(name, value);
      if (is_null(value)) reader_.gap(Gap::Kind::missing, fmt::format("{} is not known", name), cites);
      if (const auto* bytes = std::get_if<Bytes>(&value)) {
        reader_.gap(Gap::Kind::not_text, fmt::format("{} holds {} bytes that are no text", name, bytes->size), cites);
      }
      const auto* text = std::get_if<Text>(&value);
      if (text == nullptr) continue;
      if (text->whole > limits::kCellBytes)
        reader_.gap(Gap::Kind::cut, fmt::format("{} is cut: it has {} bytes", name, text->whole), cites);
      if (text->repaired)
        reader_.gap(Gap::Kind::not_text, fmt::format("{} has bytes that are no text; they are shown as �", name),
                    cites);
    }
  }

  Result<> look_around(const Node& root) {
    auto& around = workup_.neighbourhood;
    around.nodes.push_back({root.reference, 0});
    known_.insert(root.reference);
    auto frontier = first_hop(root);
    if (!frontier) return std::unexpected(std::move(frontier.error()));
    for (std::int64_t hop = 2; hop <= request_.hops && !frontier->empty() && !is_full_; ++hop) {
      std::vector<Node> next;
      for (const Node& node : *frontier) {
        if (is_full_) break;
        if (auto expanded = expand(node, hop, next); !expanded) return expanded;
      }
      *frontier = std::move(next);
    }
    return {};
  }

  // Every relationship gets its share before any gets more.
  Result<std::vector<Node>> first_hop(const Node& root) {
    const auto limit = static_cast<std::size_t>(request_.limit);
    std::vector<Peers> by_link;
    by_link.reserve(root.plan->links.size());
    for (const LinkPlan& link : root.plan->links) {
      auto peers = reader_.follow(root, link, limit + 1);
      if (!peers) return std::unexpected(std::move(peers.error()));
      by_link.push_back(std::move(*peers));
    }
    const std::vector<std::size_t> shares = share(by_link, limit);
    const std::size_t shown = std::accumulate(shares.begin(), shares.end(), std::size_t{0});
    workup_.relationships.reserve(shown);
    workup_.neighbourhood.nodes.reserve(shown + 1);
    workup_.neighbourhood.edges.reserve(shown);
    std::vector<Node> frontier;
    for (std::size_t i = 0; i < by_link.size(); ++i) {
      const LinkPlan& link = root.plan->links[i];
      if (shares[i] < by_link[i].all.size() || by_link[i].more) {
        workup_.neighbourhood.truncated = true;
        reader_.gap(Gap::Kind::truncated,
                    fmt::format("{} ({}) has more than the {} shown; ask with a higher limit, or for one of its peers",
                                link.relationship->type, to_string(link.direction), shares[i]),
                    {root.reference->cite});
      }
      for (std::size_t j = 0; j < shares[i]; ++j) {
        const Peer& peer = by_link[i].all[j];
        workup_.relationships.push_back({link.relationship->type, link.direction, peer.reference, peer.cites});
        connect(root, link, peer);
        if (known_.insert(peer.reference).second) add(peer, link, 1, frontier);
      }
    }
    return frontier;
  }

  // Keeps the row if the search goes on from it.
  void add(const Peer& peer, const LinkPlan& link, std::int64_t hop, std::vector<Node>& frontier) {
    workup_.neighbourhood.nodes.push_back({peer.reference, hop});
    if (hop < request_.hops) frontier.push_back({link.peer, peer.reference, {peer.row.begin(), peer.row.end()}});
  }

  static std::vector<std::size_t> share(const std::vector<Peers>& by_link, std::size_t limit) {
    std::vector<std::size_t> shares(by_link.size(), 0);
    for (bool gave = true; gave && limit > 0;) {
      gave = false;
      for (std::size_t i = 0; i < by_link.size() && limit > 0; ++i) {
        if (shares[i] == by_link[i].all.size()) continue;
        ++shares[i];
        --limit;
        gave = true;
      }
    }
    return shares;
  }

  Result<> expand(const Node& node, std::int64_t hop, std::vector<Node>& next) {
    auto& around = workup_.neighbourhood;
    for (const LinkPlan& link : node.plan->links) {
      auto peers = reader_.follow(node, link, kPeersAfterTheFirstHop + 1);
      if (!peers) return std::unexpected(std::move(peers.error()));
      if (peers->all.size() > kPeersAfterTheFirstHop || peers->more) {
        around.truncated = true;
        reader_.gap(Gap::Kind::truncated,
                    fmt::format("{} ({}) of {} has more than the {} that were followed; ask for it to see them",
                                link.relationship->type, to_string(link.direction), node.reference->ref,
                                kPeersAfterTheFirstHop),
                    {node.reference->cite});
      }
      for (const Peer& peer : peers->all | std::views::take(kPeersAfterTheFirstHop)) {
        if (!known_.contains(peer.reference)) {
          // The entity itself does not count.
          if (around.nodes.size() > static_cast<std::size_t>(request_.limit)) return fill();
          known_.insert(peer.reference);
          add(peer, link, hop, next);
        }
        connect(node, link, peer);
        if (around.edges.size() > 4 * static_cast<std::size_t>(request_.limit)) return fill();
      }
    }
    return {};
  }

  Result<> fill() {
    is_full_ = true;
    workup_.neighbourhood.truncated = true;
    reader_.gap(Gap::Kind::truncated,
                fmt::format("the neighbourhood is larger than the limit of {}; what is further away is left out",
                            request_.limit));
    return {};
  }

  void connect(const Node& from, const LinkPlan& link, const Peer& peer) {
    const bool outgoing = link.direction == Direction::outgoing;
    const Reference* const a = outgoing ? from.reference : peer.reference;
    const Reference* const b = outgoing ? peer.reference : from.reference;
    if (!edges_.insert({a, link.relationship, b}).second) return;
    workup_.neighbourhood.edges.push_back({a, link.relationship->type, b, peer.cites});
  }

  const Plan& plan_;
  const WorkupRequest& request_;
  Workup workup_;
  RowReader reader_;
  boost::unordered_flat_set<const Reference*> known_;
  boost::unordered_flat_set<EdgeKey, EdgeKey::Hash> edges_;
  bool is_full_ = false;
};

}  // namespace

Result<Workup> work_up(const Plan& plan, Source& source, const WorkupRequest& request, const Patience& patience) {
  const auto run = [&]() -> Result<Workup> {
    if (auto begun = source.begin(patience); !begun) return std::unexpected(std::move(begun.error()));
    return Work(plan, source, request).run();
  };
  auto done = run();
  source.end();
  return done;
}

}  // namespace proteus::datasets
