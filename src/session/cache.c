/* Cache policy: where images are, when one is used, written and evicted, and the hash seed. */
#include "session/cache.h"

#include "base/io.h"
#include "base/sha256.h"
#include "session/load.h"

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
	NS_PER_S = 1000000000,
	CLOCK_WAIT_MS = 20,
	OLD_PART_S = 3600, /* a temporary file that old was abandoned */
};

static bool debug_wanted(void)
{
	const char *tell = getenv("GAVEL_CACHE_TELL");

	return tell && *tell;
}

bool cache_debug(const char *what, const char *why)
{
	if (debug_wanted())
		say_error("cache: %s%s%s", what, *why ? ": " : "", why);
	return false;
}

char *cache_folder(bool make)
{
	struct buf path = { 0 };
	struct err err;

	if (!io_user_folder("XDG_CACHE_HOME", ".cache", &path) || path.p[0] != '/') {
		buf_release(&path);
		return NULL;
	}
	if ((make ? io_make_folders(path.p, false, &err) : io_check_folder(path.p, &err)) < 0) {
		cache_debug("no folder", err.text);
		buf_release(&path);
		return NULL;
	}
	return path.p;
}

bool cache_is_private(int fd, uint64_t *size)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & 077))
		return false;
	*size = (uint64_t)st.st_size;
	return true;
}

/* ---- the hash seed ---- */

struct seed {
	char magic[8];
	uint64_t seed;
};

static const char seed_magic[8] = "gvlseed1";

static bool seed_read(const char *folder, uint64_t *out)
{
	struct buf path = { 0 };
	struct seed s;
	uint64_t size;
	bool good;
	int fd;

	buf_printf(&path, "%s/seed", folder);
	fd = open(path.p, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	buf_release(&path);
	if (fd < 0)
		return false;
	good = cache_is_private(fd, &size) && read(fd, &s, sizeof(s)) == sizeof(s) &&
	       memcmp(s.magic, seed_magic, sizeof(s.magic)) == 0;
	close(fd);
	if (good)
		*out = s.seed;
	return good;
}

/* Saves this run's seed unless there is one already; false if that is another. */
static bool seed_save(const char *folder)
{
	struct buf path = { 0 };
	struct seed s = { .seed = hash_seed };
	uint64_t kept;
	int fd;

	memcpy(s.magic, seed_magic, sizeof(s.magic));
	buf_printf(&path, "%s/seed", folder);
	if (!seed_read(folder, &kept)) {
		unlink(path.p); /* invalid */
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

static uint64_t min_bytes(void)
{
	const char *given = getenv("GAVEL_CACHE_MIN");
	uint64_t n;

	return given && str_to_u64(str_of(given), &n) ? n : CACHE_MIN_BYTES;
}

static void add_settings(const struct load *l, struct buf *out)
{
	buf_printf(out, "%s %zu %a %a %d %u", PACKAGE_VERSION, wire_max_bytes(&l->wire),
		   l->model.approve_from, l->model.human_from, l->model.runs_agents,
		   yyjson_version());
}

/* GAVEL_CACHE_MIN is set by tests, which must work with sanitizers, too. */
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

/* Named by a hash of the files and settings, which does not reveal their names. */
static char *image_path(const struct load *l, const char *folder)
{
	struct buf key = { 0 }, path = { 0 };
	unsigned char sum[32];

	add_settings(l, &key);
	for (uint32_t i = 0; i < l->order_n; i++) {
		const struct wire_file *f = &l->wire.files.v[l->order[i]];

		buf_printf(&key, " %u %jx %jx ", l->order[i], (uintmax_t)f->source.dev,
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

/* false: unknown times, or other ones than when a small file was read into memory. */
static bool stat_files(struct load *l)
{
	for (uint32_t i = 0; i < l->wire.files.n; i++) {
		const struct source *s = &l->wire.files.v[i].source;
		struct source_stat look;

		if (source_stat(s->fd < 0 ? s->name : NULL, s->fd, &look) < 0 ||
		    (s->held && (look.ctime_ns != s->ctime_ns || !source_is(s, &look))))
			return false;
		vec_push(&l->cache.seen, look);
	}
	return true;
}

/* Whether any write from now on will change a log's ctime: the kernel's coarse clock must have
 * advanced past it. That takes a few milliseconds after a write; a whole second, where the file
 * system stores no fractions, is not waited for. */
static bool clock_moved_on(const struct cache *c)
{
	int64_t newest = 0;
	struct timespec now;

	for (uint32_t i = 0; i < c->seen.n; i++) {
		int64_t ctime_ns = c->seen.v[i].ctime_ns;

		ctime_ns += ctime_ns % NS_PER_S ? 0 : NS_PER_S;
		newest = newest > ctime_ns ? newest : ctime_ns;
	}
	for (int left = CLOCK_WAIT_MS; left > 0; left--) {
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
		if ((int64_t)now.tv_sec * NS_PER_S + now.tv_nsec > newest)
			return true;
		nanosleep(&(struct timespec){ .tv_nsec = NS_PER_S / 1000 }, NULL);
	}
	return cache_debug("no image", "the log is being written to");
}

void cache_open(struct load *l)
{
	struct cache *c = &l->cache;
	uint64_t bytes = 0;
	char *folder;

	if (!c->use)
		return;
	for (uint32_t i = 0; i < l->order_n; i++) {
		const struct source *s = &l->wire.files.v[l->order[i]].source;

		if (s->kind != SOURCE_FILE)
			return;
		bytes += s->end - s->start;
	}
	if (bytes < min_bytes() || !bytes)
		return;
	if (!heap_is_fixed(l->model.heap)) {
		cache_debug("none", "its place in memory is taken");
		return;
	}
	folder = cache_folder(true);
	if (!folder)
		return;
	c->path = image_path(l, folder);
	free(folder);
	c->incomplete = !stat_files(l) || !clock_moved_on(c);
	c->known = image_read(l);
	if (c->known) {
		char known[80];

		snprintf(known, sizeof(known), "%" PRIu64 " of %" PRIu64 " bytes are known",
			 c->known_bytes, bytes);
		cache_debug("used", known);
	}
}

const struct cache_file *cache_file(const struct load *l, uint32_t file)
{
	for (uint32_t i = 0; l->cache.known && i < l->cache.files.n; i++)
		if (l->cache.files.v[i].number == file)
			return &l->cache.files.v[i];
	return NULL;
}

/* ---- writing an image ---- */

void cache_add_file(struct load *l, const struct load_reading *r, bool lines)
{
	const struct wire_file *f = &l->wire.files.v[r->file];
	struct cache *c = &l->cache;
	struct cache_file file = {
		.at = f->cut_at, .line = f->cut_line, .number = r->file,
		.messages = r->messages, .binary = r->binary,
		.name_n = (uint32_t)f->name.n,
	};
	uint32_t i = 0;

	if (!c->path)
		return;
	c->incomplete |= !lines || l->trouble || r->file >= c->seen.n;
	if (c->incomplete)
		return;
	file.seen = c->seen.v[r->file];
	while (i < c->files.n && c->files.v[i].number != r->file)
		i++;
	if (i < c->files.n)
		c->files.v[i] = file;
	else
		vec_push(&c->files, file);
}

static bool worth_saving(const struct load *l)
{
	const struct cache *c = &l->cache;
	uint64_t bytes = 0;

	if (!c->path || c->incomplete || l->trouble || !l->complete ||
	    c->files.n != l->order_n || !conversation_can_be_kept(l))
		return false;
	for (uint32_t i = 0; i < c->files.n; i++)
		bytes += c->files.v[i].at;
	/* loading a small appended part again is cheaper than writing the whole image */
	return !c->known || bytes - c->known_bytes > c->known_bytes / 8;
}

static void save(struct load *l)
{
	char *folder = cache_folder(true);
	uint64_t max_mb = l->cache.max_mb ? l->cache.max_mb : CONFIG_CACHE_MB;

	if (folder && !seed_save(folder))
		cache_debug("not written", "there is another seed");
	else if (folder && image_write(l))
		cache_evict(folder, max_mb << 20);
	free(folder);
}

/* A reader of this program's output must not wait for the background process. */
static void detach_process(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	if (!debug_wanted())
		dup2(null, STDERR_FILENO);
}

void cache_save(struct load *l, bool goes_on)
{
	pid_t child;

	if (!worth_saving(l))
		return;
	fflush(NULL);
	child = fork();
	if (child < 0)
		return;
	if (child == 0) {
		/* a double fork: init reaps it */
		if (!goes_on || fork() == 0) {
			detach_process();
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
	vec_release(&c->seen);
	c->path = NULL;
}

/* ---- eviction ---- */

struct cache_entry {
	char *name;
	uint64_t bytes;
	struct timespec used;
};

static int by_last_use(const void *left, const void *right)
{
	const struct cache_entry *a = left, *b = right;

	if (a->used.tv_sec != b->used.tv_sec)
		return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
	return a->used.tv_nsec < b->used.tv_nsec ? -1 : a->used.tv_nsec > b->used.tv_nsec;
}

void cache_evict(const char *folder, uint64_t max_bytes)
{
	VEC(struct cache_entry) list = { 0 };
	uint64_t bytes = 0;
	uint32_t left;
	DIR *dir = opendir(folder);
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		struct cache_entry e;
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
		qsort(list.v, list.n, sizeof(*list.v), by_last_use);
	for (uint32_t i = 0; i < list.n; i++) {
		/* not the newest, which was just written */
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
