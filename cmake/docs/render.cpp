// Makes the pages of /docs/ from README.md and docs/**/*.md: render REPOSITORY FOLDER VERSION.
//
// Headings get the anchors that GitHub gives them; the first cell of a row of docs/problems.md is one, too, since
// problems are linked to. A link to another page becomes one to what is served, a link to any other file of the
// repository its text. What leads nowhere ends the build. Pictures and HTML of a page's own (comments, pictures in two
// forms) are left out: what is served is text.
#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct FreeNode {
  void operator()(cmark_node* node) const { cmark_node_free(node); }
};
struct FreeText {
  void operator()(char* text) const { std::free(text); }
};
using Text = std::unique_ptr<char, FreeText>;

struct Page {
  std::string file{};  ///< "docs/leases.md"
  std::string name{};  ///< "leases", as it is served below /docs/; empty: the first one
  std::string title{};
  std::unique_ptr<cmark_node, FreeNode> document{};
  std::set<std::string> anchors{};
};
using Pages = std::map<std::string, Page>;  // by file

std::vector<std::string> mistakes;

std::string Read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += c == '<'   ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '&' ? "&amp;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
  return out;
}

/// What a reader sees of a heading or a cell.
std::string TextOf(cmark_node* node) {
  std::string text;
  const std::unique_ptr<cmark_iter, decltype(&cmark_iter_free)> walk(cmark_iter_new(node),
                                                                     cmark_iter_free);
  while (cmark_iter_next(walk.get()) != CMARK_EVENT_DONE) {
    cmark_node* const at = cmark_iter_get_node(walk.get());
    const cmark_node_type type = cmark_node_get_type(at);
    if (type == CMARK_NODE_TEXT || type == CMARK_NODE_CODE) text += cmark_node_get_literal(at);
    if (type == CMARK_NODE_SOFTBREAK) text += ' ';
  }
  return text;
}

/// The anchor that GitHub gives a heading.
std::string SlugOf(std::string_view text) {
  std::string slug;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || std::isalnum(byte) != 0 || c == '_' || c == '-')
      slug += static_cast<char>(byte < 0x80 ? std::tolower(byte) : byte);
    else if (c == ' ')
      slug += '-';
  }
  return slug;
}

void AddAnchor(Page& page, cmark_node* node, const std::string& wanted, bool shown) {
  std::string slug = wanted;
  for (int again = 1; !page.anchors.insert(slug).second; ++again)
    slug = wanted + "-" + std::to_string(again);
  cmark_node* const anchor = cmark_node_new(CMARK_NODE_HTML_INLINE);
  const std::string html = shown ? "<a class=\"anchor\" id=\"" + slug + "\" href=\"#" + slug +
                                       "\" aria-label=\"Link to this part\">#</a>"
                                 : "<span id=\"" + slug + "\"></span>";
  cmark_node_set_literal(anchor, html.c_str());
  if (!(shown ? cmark_node_append_child(node, anchor) : cmark_node_prepend_child(node, anchor)))
    mistakes.push_back(page.file + ": no anchor can be put at " + slug);
}

template <class Visit>
void EachNode(Page& page, Visit visit) {
  std::vector<cmark_node*> nodes;
  const std::unique_ptr<cmark_iter, decltype(&cmark_iter_free)> walk(
      cmark_iter_new(page.document.get()), cmark_iter_free);
  for (cmark_event_type event; (event = cmark_iter_next(walk.get())) != CMARK_EVENT_DONE;)
    if (event == CMARK_EVENT_ENTER) nodes.push_back(cmark_iter_get_node(walk.get()));
  for (cmark_node* node : nodes) visit(node);
}

std::unique_ptr<cmark_node, FreeNode> Parse(const std::string& text) {
  const std::unique_ptr<cmark_parser, decltype(&cmark_parser_free)> parser(
      cmark_parser_new(CMARK_OPT_DEFAULT), cmark_parser_free);
  for (const char* name : {"table", "strikethrough", "autolink"})
    cmark_parser_attach_syntax_extension(parser.get(), cmark_find_syntax_extension(name));
  cmark_parser_feed(parser.get(), text.data(), text.size());
  return std::unique_ptr<cmark_node, FreeNode>(cmark_parser_finish(parser.get()));
}

bool IsFirstCellOfRow(cmark_node* node) {
  const std::string_view type = cmark_node_get_type_string(node);
  return type == "table_cell" && !cmark_node_previous(node) &&
         cmark_node_previous(cmark_node_parent(node));
}

void AddAnchors(Page& page) {
  const bool of_problems = page.name == "problems";
  EachNode(page, [&](cmark_node* node) {
    const cmark_node_type type = cmark_node_get_type(node);
    if (type == CMARK_NODE_HTML_BLOCK || type == CMARK_NODE_HTML_INLINE)
      return cmark_node_free(node);
    if (type == CMARK_NODE_HEADING) {
      const std::string text = TextOf(node);
      if (page.title.empty()) page.title = text;
      AddAnchor(page, node, SlugOf(text), true);
    }
    if (!of_problems || !IsFirstCellOfRow(node)) return;
    for (cmark_node* child = cmark_node_first_child(node); child; child = cmark_node_next(child))
      if (cmark_node_get_type(child) == CMARK_NODE_CODE)
        AddAnchor(page, node, SlugOf(TextOf(child)), false);
  });
}

/// "../" for each folder that the page lies in.
std::string UpFrom(const Page& page) {
  std::string up;
  for (const char c : page.name)
    if (c == '/') up += "../";
  return up;
}

/// What the link becomes; empty: its text alone.
std::string TargetOf(const Page& page, const Pages& pages, const fs::path& repository,
                     const std::string& url) {
  if (url.find("://") != std::string::npos || url.starts_with("mailto:")) return url;
  const std::size_t hash = std::min(url.find('#'), url.size());
  const std::string anchor = url.substr(hash);
  const fs::path from = fs::path(page.file).parent_path();
  const std::string file =
      hash == 0 ? page.file : (from / url.substr(0, hash)).lexically_normal().generic_string();
  const auto found = pages.find(file);
  if (found == pages.end()) {
    if (file == "openapi.json") return UpFrom(page) + "../openapi.json";
    if (!fs::exists(repository / file))
      mistakes.push_back(page.file + ": leads to " + url + ", which is not there");
    return {};
  }
  if (anchor.size() > 1 && !found->second.anchors.contains(anchor.substr(1)))
    mistakes.push_back(page.file + ": leads to " + url + ", and that page has no such part");
  if (hash == 0) return anchor;
  const std::string& name = found->second.name;
  const std::string up = UpFrom(page);
  return (up + name).empty() ? "./" + anchor : up + name + anchor;
}

void SetLinks(Page& page, const Pages& pages, const fs::path& repository) {
  EachNode(page, [&](cmark_node* node) {
    if (cmark_node_get_type(node) == CMARK_NODE_IMAGE) {
      const std::string file =
          (fs::path(page.file).parent_path() / cmark_node_get_url(node)).lexically_normal();
      if (!fs::exists(repository / file))
        mistakes.push_back(page.file + ": the picture " + file + " is not there");
      while (cmark_node* child = cmark_node_first_child(node))
        cmark_node_insert_before(node, child);
      cmark_node_free(node);
      return;
    }
    if (cmark_node_get_type(node) != CMARK_NODE_LINK) return;
    const std::string target = TargetOf(page, pages, repository, cmark_node_get_url(node));
    if (!target.empty()) {
      cmark_node_set_url(node, target.c_str());
      return;
    }
    while (cmark_node* child = cmark_node_first_child(node)) cmark_node_insert_before(node, child);
    cmark_node_free(node);
  });
}

std::string HtmlOf(const Page& page, const std::string& version) {
  cmark_mem* const memory = cmark_get_default_mem_allocator();
  cmark_llist* extensions = nullptr;
  for (const char* name : {"table", "strikethrough"})
    extensions = cmark_llist_append(memory, extensions, cmark_find_syntax_extension(name));
  // The HTML in it is that of the anchors.
  const Text body(cmark_render_html(page.document.get(), CMARK_OPT_UNSAFE, extensions));
  cmark_llist_free(memory, extensions);
  const std::string up = UpFrom(page);
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" +
         Escaped(page.title) + " · Tenure " + version +
         "</title>\n<link rel=\"icon\" href=\"data:,\">\n" + "<link rel=\"stylesheet\" href=\"" +
         up + "style.css\">\n</head>\n<body>\n<header><nav aria-label=\"Documents\">" +
         "<a href=\"" + (up.empty() ? "./" : up) + "\">Documents of Tenure " + version +
         "</a> <a href=\"" + up + "../ui/\">The page</a></nav></header>\n<main>\n" + body.get() +
         "</main>\n</body>\n</html>\n";
}

Page PageOf(const fs::path& repository, const fs::path& path) {
  Page page;
  page.file = path.lexically_relative(repository).generic_string();
  if (page.file != "README.md") {
    page.name = page.file.substr(std::string_view("docs/").size());
    page.name.resize(page.name.size() - std::string_view(".md").size());
  }
  page.document = Parse(Read(path));
  AddAnchors(page);
  return page;
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) {
    std::fputs("usage: render REPOSITORY FOLDER VERSION\n", stderr);
    return 2;
  }
  const fs::path repository = words[1];
  const fs::path folder = words[2];
  cmark_gfm_core_extensions_ensure_registered();
  Pages pages;
  const auto add = [&](const fs::path& path) {
    Page page = PageOf(repository, path);
    pages.emplace(page.file, std::move(page));
  };
  add(repository / "README.md");
  for (const auto& entry : fs::recursive_directory_iterator(repository / "docs"))
    if (entry.path().extension() == ".md") add(entry.path());
  for (auto& [file, page] : pages) SetLinks(page, pages, repository);
  for (const std::string& mistake : mistakes) std::fprintf(stderr, "%s\n", mistake.c_str());
  if (!mistakes.empty()) return 1;
  for (const auto& [file, page] : pages) {
    const fs::path to = folder / (page.name.empty() ? "index" : page.name);
    fs::create_directories(to.parent_path());
    std::ofstream(to, std::ios::binary) << HtmlOf(page, words[3]);
  }
}
