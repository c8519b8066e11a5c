/* Graph files: gst-launch syntax over several lines with comments and parameters.
 *
 *   # The first comment block describes the graph.
 *   @blocks 16 "how many blocks to send"
 *   fakesrc num-buffers=${blocks} ! fakesink   # a comment
 *
 * A # begins a comment at the start of a line or after white space, outside quotes. A line that
 * begins with @ declares a parameter: its name, its default and, in quotes, its help. A default of
 * ${other} is the value of another parameter, declared above. ${name} stands for a parameter's
 * value: in a property the value is inserted unchanged, in caps it is one string or number,
 * elsewhere (in an element's name) it must be a plain word. A value never ends the word that it
 * stands in, whatever it contains. A line break within quotes counts as a space. \${ is not a
 * reference to a parameter.
 *
 * Lines between @if NAME and @end are there if the parameter has a value, those after an @else
 * between them if it is empty:
 *
 *   @if input
 *   astroopen input=${input}
 *   @else
 *   astroskysrc
 *   @end
 *   ! fakesink
 *
 * Every graph has the parameters rank and ranks without declaring them (job.h).
 *
 * A line @round begins another pipeline, which runs when the one above it has ended. @round 3 or
 * @round ${rounds} repeats it that many times, and together with it the pipelines that follow after
 * lines @then. A text in quotes says what a pipeline does. In such a graph ${round} is the number
 * of the round, from 1; ${last} is the number before it; and ${folder} is a folder for files that
 * one pipeline writes and another reads.
 *
 *   @round "a first image"
 *   astroopen input=${input} ! ... ! astrofitssink location=${folder}/image-0.fits
 *   @round ${rounds} "solve"
 *   astrofitssrc location=${folder}/image-${last}.fits ! ...
 *   @then "image"
 *   ... ! astrofitssink location=${folder}/image-${round}.fits
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ASTRO_GRAPH_MAX_BYTES (1 << 20)

#define ASTRO_GRAPH_ERROR astro_graph_error_quark()
typedef enum {
  ASTRO_GRAPH_ERROR_SYNTAX,    /* in the file */
  ASTRO_GRAPH_ERROR_PARAMETER, /* in a parameter or value from the user */
  ASTRO_GRAPH_ERROR_FILE,      /* there is no such graph, or it cannot be read */
} AstroGraphError;
GQuark astro_graph_error_quark(void);

typedef struct _AstroParameter AstroParameter;
struct _AstroParameter {
  char *name;
  char *value; /* the default until astro_graph_set */
  char *fallback;
  AstroParameter *follows; /* parameter whose value is the default; NULL: use the fallback */
  char *help;
  guint line;
  gboolean used;
  gboolean set;
};

/* The kind of a token decides how a parameter's value is inserted in it. */
typedef enum {
  ASTRO_TOKEN_WORD,        /* elements, links, references, `name=`: unchanged */
  ASTRO_TOKEN_VALUE,       /* a property's value */
  ASTRO_TOKEN_CAPS,        /* a value in caps, or punctuation between them */
  ASTRO_TOKEN_CAPS_STRING, /* a quoted string in caps */
  ASTRO_TOKEN_ROUND,       /* a pipeline begins: how often it is run, and a text or "" */
  ASTRO_TOKEN_THEN,        /* the next pipeline of the same rounds begins: a text or "" */
} AstroTokenKind;

typedef struct {
  char *text; /* decoded literal text; for a parameter its name */
  gboolean parameter;
} AstroPart;

typedef struct {
  AstroTokenKind kind;
  guint line;
  gboolean joined;            /* no space before it */
  const AstroParameter *when; /* it is there only if this has a value; NULL: always */
  gboolean otherwise;         /* only if that has none */
  GPtrArray *parts;
} AstroToken;

typedef struct {
  char *file;
  char *text;
  char *description; /* may be "" */
  GPtrArray *parameters;
  GPtrArray *rounds; /* ${round}, ${last} and ${folder}; none in a graph of one pipeline */
  GPtrArray *tokens;
} AstroGraph;

/* file names the text in errors, which read "file:line: reason". */
AstroGraph *astro_graph_parse(const char *file, const char *text, gsize bytes, GError **error);
/* A graph without tokens. */
AstroGraph *astro_graph_empty(const char *file);
void astro_graph_free(AstroGraph *graph);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroGraph, astro_graph_free)

/* The name of its file, without .graph. */
char *astro_graph_name(const AstroGraph *graph);

AstroParameter *astro_graph_parameter(const AstroGraph *graph, const char *name);
/* The parameter, or the one of graph->rounds, that ${name} refers to; NULL: there is none. */
AstroParameter *astro_graph_reference(const AstroGraph *graph, const char *name);
/* The parameter that its value comes from now: itself, or one that it follows. */
const AstroParameter *astro_parameter_source(const AstroParameter *parameter);
/* The text that ${name} stands for now. */
const char *astro_parameter_value(const AstroParameter *parameter);

/* assignment: "name=value". */
gboolean astro_graph_set(AstroGraph *graph, const char *assignment, GError **error);

/* Drops the lines that are not there with the values that are set now; call it after the last
 * astro_graph_set. An error if a value was set that only those lines use. */
gboolean astro_graph_settle(AstroGraph *graph, GError **error);

/* The pipeline for gst_parse_launch, on one line; of a graph with rounds, take those that
 * astro_passes_of makes. */
char *astro_graph_line(const AstroGraph *graph, GError **error);

/* Shell arguments that give gst-launch-1.0 this line. */
char *astro_graph_shell_arguments(const char *line);

/* The line of the file that an error of gst_parse_launch is about; 0: not known. */
guint astro_graph_locate(const AstroGraph *graph, const char *message);

/* The first pass: fills parameters and tokens from text. */
gboolean astro_graph_scan(AstroGraph *graph, GError **error);

/* Whether the token begins a pipeline after another. */
gboolean astro_token_is_mark(const AstroToken *token);

/* Whether links and brackets of a graph that is settled fit together. */
gboolean astro_graph_check_links(const AstroGraph *graph, GError **error);
/* The same before that, with the lines behind each @if or with those behind each @else. */
gboolean astro_graph_check_branch(const AstroGraph *graph, gboolean otherwise, GError **error);

AstroToken *astro_token_new(AstroTokenKind kind, guint line, gboolean joined);
void astro_token_add(AstroToken *token, const char *text, gssize bytes, gboolean parameter);
AstroToken *astro_token_copy(const AstroToken *token);
/* The token's text if it is of this kind and holds no parameter, else NULL. */
const char *astro_token_literal(const AstroToken *token, AstroTokenKind kind);
/* Replaces all that the token holds by this text. */
void astro_token_replace(AstroToken *token, const char *text);
/* The token's text, with the values of its parameters. */
char *astro_token_text(const AstroGraph *graph, const AstroToken *token);

G_END_DECLS
