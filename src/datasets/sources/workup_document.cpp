#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "datasets/sources/pieces.hpp"
#include "datasets/sources/workup.hpp"

namespace proteus::datasets {
namespace {

// Approximate size of a relationship in the document and in the text.
constexpr std::size_t kJsonBytes = 640;
constexpr std::size_t kTextBytes = 256;

class JsonWriter {
 public:
  explicit JsonWriter(const Workup& workup)
      : workup_(workup), written_(workup.provenance.size() + 1), out_(1024 + kJsonBytes * workup.provenance.size()) {}

  std::string write() {
    put(R"({"status":)", to_string(workup_.status));
    put(R"(,"dataset":)", workup_.dataset);
    out_ += R"(,"resolution":)";
    if (workup_.resolution) {
      out_.quoted(to_string(*workup_.resolution));
    } else {
      out_ += "null";
    }
    each(R"(,"candidates":[)", workup_.candidates, [this](const Reference* one) {
      reference(*one);
      cites({one->cite});
    });
    entity();
    each(R"(,"relationships":[)", workup_.relationships, [this](const Relationship& one) {
      put(R"("type":)", one.type);
      put(R"(,"direction":)", to_string(one.direction));
      out_ += R"(,"peer":{)";
      reference(*one.peer);
      out_ += '}';
      cites(one.cites);
    });
    neighbourhood();
    each(R"(,"gaps":[)", workup_.gaps, [this](const Gap& gap) {
      put(R"("kind":)", to_string(gap.kind));
      put(R"(,"message":)", gap.message);
      cites(gap.cites);
    });
    provenance();
    put(R"(,"mapping_sha256":)", workup_.mapping_sha256);
    out_ += '}';
    return std::move(out_).take();
  }

 private:
  void put(std::string_view before, std::string_view text) {
    out_ += before;
    out_.quoted(text);
  }

  template <class List, class Member>
  void each(std::string_view before, const List& list, Member&& member) {
    out_ += before;
    for (const auto& one : list) {
      out_ += '{';
      member(one);
      out_ += "},";
    }
    if (!list.empty()) out_.pop_back();
    out_ += ']';
  }

  void cites(const Citations& numbers) {
    out_ += R"(,"cites":[)";
    for (const std::uint32_t number : numbers) {
      out_ += R"("p)";
      out_.number(number);
      out_ += R"(",)";
    }
    if (!numbers.empty()) out_.pop_back();
    out_ += ']';
  }

  // Writes the members of a reference, copied from the first place where they were written.
  void reference(const Reference& one) {
    Place& place = written_[one.cite];
    if (place.size > 0) {
      out_.again(place.at, place.size);
      return;
    }
    place.at = out_.size();
    put(R"("ref":)", one.ref);
    place.ref = out_.size() - place.at;
    put(R"(,"id":)", one.id());
    put(R"(,"type":)", one.type);
    put(R"(,"name":)", one.name);
    place.size = out_.size() - place.at;
  }

  void ref(std::string_view before, const Reference& one) {
    constexpr std::size_t kKey = std::string_view(R"("ref":)").size();
    const Place& place = written_[one.cite];
    if (place.size == 0) return put(before, one.ref);
    out_ += before;
    out_.again(place.at + kKey, place.ref - kKey);
  }

  void entity() {
    if (workup_.entity == nullptr) {
      out_ += R"(,"entity":null)";
      return;
    }
    out_ += R"(,"entity":{)";
    reference(*workup_.entity);
    out_ += R"(,"attributes":{)";
    const auto& all = workup_.attributes;
    for (auto one = all.begin(); one != all.end(); ++one) {
      // A column that the mapping names twice becomes one member.
      if (std::any_of(all.begin(), one, [&](const auto& before) { return before.first == one->first; })) continue;
      put(one == all.begin() ? "" : ",", one->first);
      out_ += ':';
      out_.json(one->second);
    }
    out_ += '}';
    cites({workup_.entity->cite});
    out_ += '}';
  }

  void neighbourhood() {
    const Neighbourhood& around = workup_.neighbourhood;
    each(R"(,"neighbourhood":{"nodes":[)", around.nodes, [this](const Neighbourhood::Node& node) {
      reference(*node.reference);
      out_ += R"(,"hops":)";
      out_.number(node.hops);
      cites({node.reference->cite});
    });
    each(R"(,"edges":[)", around.edges, [this](const Neighbourhood::Edge& edge) {
      ref(R"("from":)", *edge.from);
      put(R"(,"type":)", edge.type);
      ref(R"(,"to":)", *edge.to);
      cites(edge.cites);
    });
    out_ += R"(,"hops":)";
    out_.number(around.hops);
    out_ += around.truncated ? R"(,"truncated":true})" : R"(,"truncated":false})";
  }

  void provenance() {
    std::int64_t number = 0;
    each(R"(,"provenance":[)", workup_.provenance, [&](const Provenance& one) {
      out_ += R"("id":"p)";
      out_.number(++number);
      put(R"(","table":)", one.table);
      put(R"(,"operation":)", one.operation);
      const bool is_one = one.other && one.other->column == one.key.column;
      put(R"(,"keys":{)", one.key.column);
      out_ += ':';
      out_.json(is_one ? one.other->value : one.key.value);
      if (one.other && !is_one) {
        put(",", one.other->column);
        out_ += ':';
        out_.json(one.other->value);
      }
      out_ += '}';
    });
  }

  struct Place {
    std::size_t at = 0;
    std::size_t size = 0;
    std::size_t ref = 0;  // size of its first member
  };

  const Workup& workup_;
  std::vector<Place> written_;  // by the number of the reference's row
  Pieces out_;
};

bool has_control(std::string_view text) {
  constexpr std::uint64_t kEach = 0x0101010101010101U;
  const auto has = [](const char* bytes, std::size_t size) {
    std::uint64_t word = kEach * ' ';
    std::memcpy(&word, bytes, size);
    const std::uint64_t deletes = word ^ (kEach * 0x7f);
    return ((((word - kEach * ' ') & ~word) | ((deletes - kEach) & ~deletes)) & (kEach * 0x80)) != 0;
  };
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    if (has(text.data() + at, 8)) return true;
  }
  return at < text.size() && has(text.data() + at, text.size() - at);
}

class TextWriter {
 public:
  explicit TextWriter(const Workup& workup) : workup_(workup), out_(1024 + kTextBytes * workup.provenance.size()) {}

  std::string write() {
    if (workup_.status == WorkupStatus::not_found) {
      put("Nothing in the dataset ", workup_.dataset, " is called ");
      line(workup_.asked);
      put(".\nIds, names and aliases were tried, without case and by their beginning. Try another spelling, or a part "
          "of "
          "the name from its beginning.\n");
    }
    if (workup_.status == WorkupStatus::ambiguous) {
      line(workup_.asked);
      put(" may be any of these; ask again with the ref of the one that is meant:\n");
      for (const Reference* const one : workup_.candidates) {
        put("- ");
        reference(*one);
        cites({one->cite});
      }
    }
    if (workup_.entity != nullptr) entity();
    if (!workup_.gaps.empty()) put("\nGaps\n");
    for (const Gap& gap : workup_.gaps) {
      put("- ");
      line(gap.message);
      cites(gap.cites);
    }
    sources();
    put("\nDataset ", workup_.dataset, ", mapping ", workup_.mapping_sha256.substr(0, 12), "\n");
    return std::move(out_).take();
  }

 private:
  template <class... Parts>
  void put(const Parts&... parts) {
    ((out_ += std::string_view(parts)), ...);
  }

  // Writes text of the source, which cannot break out of its line.
  void line(std::string_view text, std::size_t limit = 500) {
    if (text.size() <= limit && !has_control(text)) {
      out_ += text;
    } else {
      out_ += log::printable(text, limit);
    }
  }

  void value(const Value& shown, std::size_t limit = 500) {
    if (const auto* const text = std::get_if<Text>(&shown)) return line(text->text, limit);
    if (const auto* const whole = std::get_if<std::int64_t>(&shown)) return out_.number(*whole);
    out_ += to_text(shown);
  }

  // Also ends the line.
  void cites(const Citations& numbers) {
    for (const std::uint32_t number : numbers) {
      put(" [p");
      out_.number(number);
      put("]");
    }
    put("\n");
  }

  void reference(const Reference& one) {
    line(one.name);
    put(" (");
    line(one.type);
    put(", ");
    line(one.ref);
    put(")");
  }

  void entity() {
    const Reference& found = *workup_.entity;
    reference(found);
    put(", found by ", to_string(*workup_.resolution));
    cites({found.cite});
    for (const auto& [name, shown] : workup_.attributes) {
      if (is_null(shown)) continue;
      put("- ");
      line(name);
      put(": ");
      value(shown, limits::kCellBytes);
      cites({found.cite});
    }
    if (!workup_.relationships.empty()) put("\nRelationships\n");
    for (const Relationship& one : workup_.relationships) {
      put(one.direction == Direction::outgoing ? "- → " : "- ← ");
      line(one.type);
      put(" ");
      reference(*one.peer);
      cites(one.cites);
    }
    if (workup_.neighbourhood.hops > 1) neighbourhood();
  }

  void neighbourhood() {
    const Neighbourhood& around = workup_.neighbourhood;
    out_ += fmt::format("\nWithin {} hops: {} entities, {} relationships{}\n", around.hops, around.nodes.size(),
                        around.edges.size(), around.truncated ? ", and more that is not shown" : "");
    for (const Neighbourhood::Edge& edge : around.edges) {
      put("- ");
      line(edge.from->ref);
      put(" ");
      line(edge.type);
      put(" ");
      line(edge.to->ref);
      cites(edge.cites);
    }
  }

  void sources() {
    if (!workup_.provenance.empty()) put("\nSources\n");
    std::int64_t number = 0;
    for (const Provenance& one : workup_.provenance) {
      put("[p");
      out_.number(++number);
      put("] ");
      line(one.table);
      put(": ");
      key(one.key);
      if (one.other) {
        put(", ");
        key(*one.other);
      }
      put(" (");
      line(one.operation);
      put(")\n");
    }
  }

  void key(const Provenance::Key& one) {
    line(one.column);
    put(" = ");
    value(one.value);
  }

  const Workup& workup_;
  Pieces out_;
};

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

std::string write_workup(const Workup& workup) { return JsonWriter(workup).write(); }

std::string describe_workup(const Workup& workup) { return TextWriter(workup).write(); }

}  // namespace proteus::datasets
