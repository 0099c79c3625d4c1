/* Where images are, whether one may be used, and when one is made. */
#include "cmd/cache.h"

#include "base/io.h"
#include "base/sha256.h"
#include "cmd/load.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <yyjson.h>

enum {
	END_BYTES = 64 << 10,
	SAMPLE_BYTES = 4096,
	SAMPLE_EVERY = 4 << 20,
	OLD_PART_S = 3600, /* a writer that old has given up */
};

static bool is_told(void)
{
	const char *tell = getenv("GAVEL_CACHE_TELL");

	return tell && *tell;
}

bool cache_tell(const char *what, const char *why)
{
	if (is_told())
		fprintf(stderr, "gavel: cache: %s%s%s\n", what, *why ? ": " : "", why);
	return false;
}

char *cache_folder(bool make)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct buf path = { 0 };
	struct err err;

	if (cache && cache[0] == '/')
		buf_printf(&path, "%s/gavel", cache);
	else if (home && home[0] == '/')
		buf_printf(&path, "%s/.cache/gavel", home);
	else
		return NULL;
	if ((make ? io_make_folders(path.p, false, &err) : io_check_folder(path.p, &err)) < 0) {
		cache_tell("no folder", err.text);
		buf_release(&path);
		return NULL;
	}
	return path.p;
}

/* ---- the seed ---- */

struct seed {
	char magic[8];
	uint64_t seed;
};

static const char seed_magic[8] = "gvlseed1";

static bool seed_read(const char *folder, uint64_t *out)
{
	struct buf path = { 0 };
	struct seed s;
	struct stat st;
	bool good;
	int fd;

	buf_printf(&path, "%s/seed", folder);
	fd = open(path.p, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	buf_release(&path);
	if (fd < 0)
		return false;
	good = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & 077) && read(fd, &s, sizeof(s)) == sizeof(s) &&
	       memcmp(s.magic, seed_magic, sizeof(s.magic)) == 0;
	close(fd);
	if (good)
		*out = s.seed;
	return good;
}

/* This run's seed becomes that of the images, unless there is another already. */
static bool seed_keep(const char *folder)
{
	struct buf path = { 0 };
	struct seed s = { .seed = hash_seed };
	uint64_t kept;
	int fd;

	memcpy(s.magic, seed_magic, sizeof(s.magic));
	buf_printf(&path, "%s/seed", folder);
	if (!seed_read(folder, &kept)) {
		unlink(path.p); /* what is there is of no use */
		fd = open(path.p, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0) {
			if (write(fd, &s, sizeof(s)) != sizeof(s))
				unlink(path.p);
			close(fd);
		}
	}
	buf_release(&path);
	return seed_read(folder, &kept) && kept == hash_seed;
}

void cache_seed(void)
{
	char *folder = cache_folder(false);

	if (folder)
		seed_read(folder, &hash_seed);
	free(folder);
}

/* ---- which image ---- */

static uint64_t least_bytes(void)
{
	const char *given = getenv("GAVEL_CACHE_MIN");
	uint64_t n;

	return given && str_to_u64(str_of(given), &n) ? n : CACHE_MIN_BYTES;
}

static void add_settings(const struct load *l, struct buf *out)
{
	buf_printf(out, "%s %zu %a %a %d %u", PACKAGE_VERSION, wire_max_bytes(&l->wire),
		 l->model.approve_from, l->model.human_from, l->model.runs_agents, yyjson_version());
}

/* Where small logs are to have images, this is tested, and under a checker too. */
enum heap_kind cache_heap(const struct cache *c)
{
	return c->use && getenv("GAVEL_CACHE_MIN") ? HEAP_FIXED : HEAP_USUAL;
}

uint64_t cache_settings(const struct load *l)
{
	struct buf text = { 0 };
	uint64_t sum;

	add_settings(l, &text);
	sum = str_hash(buf_str(&text));
	buf_release(&text);
	return sum;
}

/* A name for this list of files, read in this way. It tells nothing of what they are called. */
static char *image_path(const struct load *l, const char *folder, const uint32_t *order)
{
	struct buf key = { 0 }, path = { 0 };
	unsigned char sum[32];

	add_settings(l, &key);
	for (uint32_t i = 0; i < l->wire.files.n; i++) {
		const struct wire_file *f = &l->wire.files.v[order[i]];

		buf_printf(&key, " %u %jx %jx ", order[i], (uintmax_t)f->source.dev,
			   (uintmax_t)f->source.ino);
		buf_add_str(&key, f->name);
		buf_addc(&key, '\0');
	}
	sha256(buf_str(&key), sum);
	buf_printf(&path, "%s/", folder);
	for (int i = 0; i < 16; i++)
		buf_printf(&path, "%02x", sum[i]);
	buf_adds(&path, ".image");
	buf_release(&key);
	return path.p;
}

uint64_t cache_samples(int fd, uint64_t at)
{
	char *bytes = xmalloc(END_BYTES);
	uint64_t sum = hash_mix(at, 1), next = 0;

	while (next < at) {
		bool end = next == 0 || at - next <= END_BYTES;
		uint64_t n = end ? END_BYTES : SAMPLE_BYTES, last = at > END_BYTES ? at - END_BYTES : 0;
		ssize_t got;

		n = n < at - next ? n : at - next;
		IO_AGAIN(got, pread(fd, bytes, (size_t)n, (off_t)next));
		if (got != (ssize_t)n) {
			sum = 0;
			break;
		}
		sum = hash_mix(sum, str_hash(str_make(bytes, (size_t)n)));
		if (at - next <= END_BYTES)
			break;
		next = next ? next + SAMPLE_EVERY : SAMPLE_EVERY;
		next = next < last ? next : last;
	}
	free(bytes);
	return sum;
}

void cache_open(struct load *l, const uint32_t *order)
{
	struct cache *c = &l->cache;
	uint64_t bytes = 0;
	char *folder;

	if (!c->use)
		return;
	for (uint32_t i = 0; i < l->wire.files.n; i++) {
		const struct source *s = &l->wire.files.v[i].source;

		if (s->kind != SOURCE_FILE)
			return;
		bytes += s->end - s->start;
	}
	if (bytes < least_bytes() || !bytes)
		return;
	if (!heap_is_fixed(l->model.heap)) {
		cache_tell("none", "its place in memory is taken");
		return;
	}
	folder = cache_folder(false);
	if (!folder)
		folder = cache_folder(true);
	if (!folder)
		return;
	c->path = image_path(l, folder, order);
	free(folder);
	c->known = image_read(l, order);
	if (c->known) {
		char known[80];

		snprintf(known, sizeof(known), "%" PRIu64 " of %" PRIu64 " bytes are known",
			 c->known_bytes, bytes);
		cache_tell("used", known);
	}
}

const struct cache_file *cache_file(const struct load *l, uint32_t file)
{
	for (uint32_t i = 0; l->cache.known && i < l->cache.files.n; i++)
		if (l->cache.files.v[i].number == file)
			return &l->cache.files.v[i];
	return NULL;
}

/* ---- making one ---- */

void cache_note(struct load *l, const struct load_reading *r, bool lines)
{
	const struct wire_file *f = &l->wire.files.v[r->file];
	struct cache *c = &l->cache;
	struct cache_file known = {
		.dev = (uint64_t)f->source.dev, .ino = (uint64_t)f->source.ino,
		.born_ns = f->source.born_ns, .changed_ns = f->source.changed_ns,
		.size = f->source.end, .at = f->cut_at, .line = f->cut_line, .number = r->file,
		.messages = r->messages, .binary = r->binary, .joined = f->joined,
		.name_n = (uint32_t)f->name.n,
	};
	struct cache_file *before = NULL;

	if (!c->path)
		return;
	c->incomplete |= !lines || l->trouble;
	for (uint32_t i = 0; i < c->files.n && !before; i++)
		if (c->files.v[i].number == r->file)
			before = &c->files.v[i];
	if (before)
		*before = known;
	else
		vec_push(&c->files, known);
}

static bool is_wanted(const struct load *l)
{
	const struct cache *c = &l->cache;
	uint64_t bytes = 0;

	if (!c->path || c->incomplete || l->trouble || !l->complete ||
	    c->files.n != l->wire.files.n)
		return false;
	for (uint32_t i = 0; i < c->files.n; i++)
		bytes += c->files.v[i].at;
	/* what has come since costs less to read again than all of it to write */
	return !c->known || bytes - c->known_bytes > c->known_bytes / 8;
}

static void save(struct load *l)
{
	char *folder = cache_folder(true);
	uint64_t max_mb = l->cache.max_mb ? l->cache.max_mb : CACHE_MAX_MB;

	if (folder && !seed_keep(folder))
		cache_tell("not written", "there is another seed");
	else if (folder && image_write(l))
		cache_tidy(folder, max_mb << 20);
	free(folder);
}

/* Nobody who reads what this program prints shall wait for the one that writes an image. */
static void let_go_of_output(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	if (!is_told())
		dup2(null, STDERR_FILENO);
}

void cache_save(struct load *l, bool goes_on)
{
	pid_t child;

	if (!is_wanted(l))
		return;
	fflush(NULL);
	child = fork();
	if (child < 0)
		return;
	if (child == 0) {
		/* twice, or somebody would have to wait for it; a fork copies the tables of all pages */
		if (!goes_on || fork() == 0) {
			let_go_of_output();
			save(l);
		}
		_exit(0);
	}
	while (goes_on && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

void cache_release(struct cache *c)
{
	free(c->path);
	vec_release(&c->files);
	c->path = NULL;
}

/* ---- not too many ---- */

struct entry {
	char *name;
	uint64_t bytes;
	struct timespec used;
};

static int by_use(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->used.tv_sec != b->used.tv_sec)
		return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
	return a->used.tv_nsec < b->used.tv_nsec ? -1 : a->used.tv_nsec > b->used.tv_nsec;
}

void cache_tidy(const char *folder, uint64_t max_bytes)
{
	VEC(struct entry) list = { 0 };
	uint64_t bytes = 0;
	uint32_t left;
	DIR *dir = opendir(folder);
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		struct entry e;
		struct stat st;
		bool part = str_ends(str_of(d->d_name), STR(".part"));

		if ((!part && !str_ends(str_of(d->d_name), STR(".image"))) ||
		    fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (part && time(NULL) - st.st_mtime > OLD_PART_S)
			unlinkat(dirfd(dir), d->d_name, 0);
		if (part)
			continue;
		e.name = xstrdup(d->d_name);
		e.bytes = (uint64_t)st.st_size;
		e.used = st.st_mtim;
		bytes += e.bytes;
		vec_push(&list, e);
	}
	left = list.n;
	if (list.n)
		qsort(list.v, list.n, sizeof(*list.v), by_use);
	for (uint32_t i = 0; i < list.n; i++) {
		/* the newest is the one that was just written */
		if ((bytes > max_bytes || left > CACHE_IMAGES_MAX) && i + 1 < list.n) {
			unlinkat(dirfd(dir), list.v[i].name, 0);
			bytes -= list.v[i].bytes;
			left--;
		}
		free(list.v[i].name);
	}
	vec_release(&list);
	if (dir)
		closedir(dir);
}
