/* Cache image file: a header, and the pages of the model's heap as they are.
 *
 *   head     sizes, a checksum over all up to the parts, the executable's checksum
 *   files    struct cache_file of each log
 *   parts    address and checksum of each part of the heap
 *   names    of the files
 *   model    the struct, whose pointers lead into the heap
 *   stats    struct session_stats of the whole log
 *   …        zeros up to the next page, then the parts, which are whole pages
 *
 * Numbers are in native byte order. The parts are mapped, not read: that needs no copy, and several
 * gavels share the pages. So an image is never modified once it has its name, only replaced or
 * deleted, which does not affect existing mappings. */
#include "base/io.h"
#include "base/parallel.h"
#include "session/cache.h"
#include "session/load.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
	FILES_MAX = 4096,
	PARTS_MAX = 1 << 14, /* well below vm.max_map_count, 65530 */
	NAMES_MAX = 16 << 20,
	SUM_BLOCK_BYTES = 256 << 10, /* fits the L2 cache */
};

struct head {
	char magic[8];
	uint64_t sum; /* over everything up to the parts, this field as 0 */
	uint64_t build, settings;
	uint64_t head_n, total_n; /* bytes up to the parts, and of all */
	uint64_t model_n, names_n;
	uint32_t files_n, parts_n;
	uint64_t said; /* conversation_sum */
};

struct image_part {
	struct heap_part where;
	uint64_t sum;
};

static const char magic[8] = "gvlimg07";

/* Checksum of the executable: other builds have other structs and rules. 0 = unknown. */
static uint64_t build_sum(void)
{
	size_t room = 1 << 20;
	char *bytes = xmalloc(room);
	uint64_t sum = 1;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	while (fd >= 0) {
		IO_RETRY(n, read(fd, bytes, room));
		if (n <= 0)
			break;
		sum = hash_mix(sum, str_hash(str_make(bytes, (size_t)n)));
	}
	if (fd >= 0)
		close(fd);
	free(bytes);
	return n < 0 ? 0 : sum;
}

static int read_all(int fd, void *to, uint64_t n, uint64_t offset)
{
	char *p = to;

	while (n) {
		ssize_t got;

		IO_RETRY(got, pread(fd, p, n < (1u << 30) ? (size_t)n : 1u << 30, (off_t)offset));
		if (got <= 0)
			return -1;
		p += got;
		offset += (uint64_t)got;
		n -= (uint64_t)got;
	}
	return 0;
}

/* ---- whether a log is unchanged ---- */

struct image_range {
	int fd;
	uint64_t from, to, sum; /* sum: 0 = read error */
};

static void sum_range(void *ctx)
{
	struct image_range *r = ctx;
	struct buf room = { 0 };

	r->sum = 1;
	for (uint64_t at = r->from; at < r->to && r->sum; at += SUM_BLOCK_BYTES) {
		size_t n = r->to - at < SUM_BLOCK_BYTES ? (size_t)(r->to - at) : SUM_BLOCK_BYTES;
		char *bytes = source_buffer(&room, at, n);

		r->sum = read_all(r->fd, bytes, n, at) < 0
				 ? 0
				 : hash_mix(r->sum, str_hash(str_make(bytes, n))) | 1;
	}
	buf_release(&room);
}

uint64_t cache_checksum(int fd, uint64_t n)
{
	uint64_t half = n / 2 / SUM_BLOCK_BYTES * SUM_BLOCK_BYTES;
	struct image_range first = { .fd = fd, .to = half },
			   second = { .fd = fd, .from = half, .to = n };

	run_parallel(sum_range, &first, sum_range, &second);
	return first.sum && second.sum ? hash_mix(first.sum, second.sum) | 1 : 0;
}

static bool same_inode(const struct source_stat *a, const struct source_stat *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->born_ns == b->born_ns;
}

/* Whether nothing was written in between, see cache.h. */
static bool same_times(const struct source_stat *a, const struct source_stat *b)
{
	return same_inode(a, b) && a->size == b->size && a->changed_ns == b->changed_ns &&
	       a->ctime_ns == b->ctime_ns;
}

/* Whether the file system sets ctime from the kernel's clock on each write. */
static bool keeps_ctime(int fd)
{
	static const uint32_t local[] = { EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
					  F2FS_SUPER_MAGIC, TMPFS_MAGIC, OVERLAYFS_SUPER_MAGIC,
					  0x2fc12fc1 /* ZFS */, 0xca451a4e /* bcachefs */ };
	struct statfs fs;

	for (size_t i = 0; fstatfs(fd, &fs) == 0 && i < sizeof(local) / sizeof(local[0]); i++)
		if ((uint32_t)fs.f_type == local[i])
			return true;
	return false;
}

/* ---- reading ---- */

struct image {
	int fd;
	struct head head;
	char *bytes; /* the head and what follows it up to the parts */
	const struct cache_file *files;
	const struct image_part *parts;
	const char *names, *model, *session_stats;
};

static uint64_t whole_pages(uint64_t n)
{
	return (n + HEAP_PAGE - 1) & ~(uint64_t)(HEAP_PAGE - 1);
}

/* Validates sizes, before anything is allocated by them. */
static bool head_is_sane(const struct head *h, uint64_t size)
{
	return memcmp(h->magic, magic, sizeof(magic)) == 0 && h->files_n &&
	       h->files_n <= FILES_MAX && h->parts_n <= PARTS_MAX && h->names_n <= NAMES_MAX &&
	       h->model_n == sizeof(struct model) &&
	       h->head_n == whole_pages(sizeof(*h) + h->files_n * sizeof(struct cache_file) +
					h->parts_n * sizeof(struct image_part) + h->names_n +
					h->model_n + sizeof(struct session_stats)) &&
	       h->total_n == size && h->head_n <= size;
}

static uint64_t head_sum(char *bytes, uint64_t n)
{
	uint64_t none = 0, kept, sum;

	memcpy(&kept, bytes + offsetof(struct head, sum), sizeof(kept));
	memcpy(bytes + offsetof(struct head, sum), &none, sizeof(none));
	sum = str_hash(str_make(bytes, (size_t)n));
	memcpy(bytes + offsetof(struct head, sum), &kept, sizeof(kept));
	return sum;
}

static bool open_image(const struct load *l, struct image *image)
{
	struct head *h = &image->head;
	uint64_t size = 0, sum = 0;

	image->fd = open(l->cache.path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (image->fd < 0)
		return cache_debug("not used", "there is no image");
	if (!cache_is_private(image->fd, &size))
		return cache_debug("not used", "the image belongs to others");
	if (read_all(image->fd, h, sizeof(*h), 0) < 0 || !head_is_sane(h, size))
		return cache_debug("not used", "the image is damaged, or of another gavel");
	image->bytes = xmalloc((size_t)h->head_n);
	if (read_all(image->fd, image->bytes, h->head_n, 0) < 0 ||
	    head_sum(image->bytes, h->head_n) != h->sum)
		return cache_debug("not used", "the image is damaged, or of another gavel");
	if (h->build != build_sum() || h->settings != cache_settings(l))
		return cache_debug("not used", "the image is of another gavel");
	image->files = (const void *)(image->bytes + sizeof(*h));
	image->parts = (const void *)(image->files + h->files_n);
	image->names = (const char *)(image->parts + h->parts_n);
	image->model = image->names + h->names_n;
	image->session_stats = image->model + h->model_n;
	for (uint32_t i = 0; i < h->parts_n; i++)
		sum += image->parts[i].where.n;
	if (sum != h->total_n - h->head_n)
		return cache_debug("not used", "the image is damaged");
	return true;
}

static bool same_file(struct load *l, const struct cache_file *k, const char *name, uint32_t number,
		      bool last)
{
	struct wire_file *f = &l->wire.files.v[number];
	struct source_stat now;
	struct err err;

	if (k->number != number || !str_eq(f->name, str_make(name, k->name_n)) ||
	    wire_ensure_open(&l->wire, number, &err) < 0 ||
	    source_stat(NULL, f->source.fd, &now) < 0)
		return cache_debug("not used", "other files");
	if (!same_inode(&k->seen, &now))
		return cache_debug("not used", "another file has the log's name");
	if (now.size < k->seen.size || k->at > now.size || (!last && now.size != k->seen.size))
		return cache_debug("not used", "the log has another size");
	if (!same_times(&k->seen, &now) && cache_checksum(f->source.fd, k->at) != k->sum)
		return cache_debug("not used", "the log was changed in place");
	return true;
}

static bool same_files(struct load *l, const struct image *image)
{
	const char *name = image->names, *end = image->names + image->head.names_n;

	if (image->head.files_n != l->order_n)
		return cache_debug("not used", "other files");
	for (uint32_t i = 0; i < image->head.files_n; i++) {
		const struct cache_file *k = &image->files[i];

		if (k->name_n > (size_t)(end - name) ||
		    !same_file(l, k, name, l->order[i], i + 1 == image->head.files_n))
			return false;
		name += k->name_n;
	}
	return true;
}

static bool map_parts(const struct image *image, struct heap *heap)
{
	uint64_t offset = image->head.head_n;

	for (uint32_t i = 0; i < image->head.parts_n; i++) {
		const struct image_part *p = &image->parts[i];
		const char *at = heap_map(heap, p->where, image->fd, offset);

		if (!at || str_hash(str_make(at, (size_t)p->where.n)) != p->sum)
			return cache_debug("not used", "the image is damaged");
		heap_rest(heap, p->where);
		offset += p->where.n;
	}
	return true;
}

/* Restores the model, which is empty; unchanged on failure. */
static bool restore_model(struct model *m, const struct image *image)
{
	struct model before = *m;
	bool good;

	diag_store_release(&m->diag_store);
	heap_reset(m->heap);
	good = map_parts(image, m->heap);
	if (good) {
		memcpy(m, image->model, sizeof(*m));
		good = m->heap == before.heap;
	}
	if (!good) {
		heap_reset(before.heap);
		model_init_in(m, before.heap);
		m->approve_from = before.approve_from;
		m->human_from = before.human_from;
		m->runs_agents = before.runs_agents;
	}
	model_set_limit(m, before.limit_ms); /* as of now, not of when the image was made */
	return good;
}

bool image_read(struct load *l)
{
	struct image image = { .fd = -1 };
	bool good = open_image(l, &image) && same_files(l, &image) &&
		    (image.head.said == conversation_sum(l) ||
		     cache_debug("not used", "other replies")) &&
		    restore_model(&l->model, &image);

	for (uint32_t i = 0; good && i < image.head.files_n; i++) {
		const struct cache_file *k = &image.files[i];

		vec_push(&l->cache.files, *k);
		l->cache.known_bytes += k->at;
	}
	if (good) {
		conversation_restore(l);
		memcpy(&l->cache.session_stats, image.session_stats,
		       sizeof(l->cache.session_stats));
		futimens(image.fd, NULL); /* the time of last use, see cache_evict */
	}
	if (image.fd >= 0)
		close(image.fd);
	free(image.bytes);
	return good;
}

/* ---- writing ---- */

/* Removes what is not from the log: decisions, which the journal has, and times of arrival. */
static void strip_run_state(struct model *m)
{
	model_overlay_clear(m);
	m->arrivals.n = 0;
	diag_store_release(&m->diag_store);
}

static void compute_stats(struct load *l)
{
	struct scene s = { .model = &l->model, .k = l->model.records.n, .reader = &l->reader,
			   .kept = &l->cache.session_stats };
	struct session_stats session_stats;

	s.now_ms = model_now(s.model, s.k);
	session_stats_compute(&s, &session_stats, NULL); /* stores them in s.kept, too */
}

static bool add_files(struct load *l, struct buf *out, struct buf *names)
{
	for (uint32_t i = 0; i < l->cache.files.n; i++) {
		struct cache_file *k = &l->cache.files.v[i];
		const struct wire_file *f = &l->wire.files.v[k->number];
		struct source_stat now;
		struct err err;

		if (wire_ensure_open(&l->wire, k->number, &err) < 0)
			return false;
		if (!keeps_ctime(f->source.fd))
			return cache_debug("not written", "the file system is not a local one");
		k->sum = cache_checksum(f->source.fd, k->at);
		if (!k->sum || source_stat(NULL, f->source.fd, &now) < 0 ||
		    !same_times(&k->seen, &now))
			return cache_debug("not written", "the log changed meanwhile");
		buf_add(out, k, sizeof(*k));
		buf_add_str(names, f->name);
	}
	return true;
}

static void add_head(const struct load *l, const struct heap_parts *parts, const struct buf *files,
		     const struct buf *names, struct buf *out)
{
	struct head h = { .build = build_sum(), .settings = cache_settings(l),
			  .said = conversation_sum(l),
			  .model_n = sizeof(struct model), .names_n = names->n,
			  .files_n = l->cache.files.n, .parts_n = parts->list.n };

	memcpy(h.magic, magic, sizeof(magic));
	h.head_n = whole_pages(sizeof(h) + files->n + h.parts_n * sizeof(struct image_part) +
			       names->n + h.model_n + sizeof(struct session_stats));
	h.total_n = h.head_n + parts->bytes;
	buf_add(out, &h, sizeof(h));
	buf_add_str(out, buf_str(files));
	for (uint32_t i = 0; i < parts->list.n; i++) {
		struct heap_part where = parts->list.v[i];
		struct image_part p = { .where = where,
				  .sum = str_hash(str_make(heap_at(l->model.heap, where),
							   (size_t)where.n)) };

		buf_add(out, &p, sizeof(p));
	}
	buf_add_str(out, buf_str(names));
	buf_add(out, &l->model, sizeof(l->model));
	buf_add(out, &l->cache.session_stats, sizeof(l->cache.session_stats));
	buf_reserve(out, (size_t)h.head_n - out->n);
	memset(out->p + out->n, 0, (size_t)h.head_n - out->n);
	out->n = (size_t)h.head_n;
	h.sum = head_sum(out->p, h.head_n);
	memcpy(out->p, &h, sizeof(h));
}

static bool write_file(const struct load *l, const char *path, const struct heap_parts *parts,
		       struct str head)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	size_t done;
	int rc;

	if (fd < 0)
		return cache_debug("not written", strerror(errno));
	rc = io_write_all(fd, head, &done);
	for (uint32_t i = 0; i < parts->list.n && rc == 0; i++)
		rc = io_write_all(fd, str_make(heap_at(l->model.heap, parts->list.v[i]),
					       (size_t)parts->list.v[i].n), &done);
	if (close(fd) < 0)
		rc = -1;
	if (rc == 0)
		rc = rename(path, l->cache.path);
	if (rc < 0) {
		cache_debug("not written", strerror(errno));
		unlink(path);
	}
	return rc == 0;
}

bool image_write(struct load *l)
{
	struct buf files = { 0 }, names = { 0 }, head = { 0 }, path = { 0 };
	struct heap_parts parts = { 0 };
	bool good = build_sum() && l->cache.files.n <= FILES_MAX;

	strip_run_state(&l->model);
	compute_stats(l);
	good = good && add_files(l, &files, &names) && names.n <= NAMES_MAX;
	if (good) {
		heap_list(l->model.heap, &parts);
		good = parts.list.n <= PARTS_MAX || cache_debug("not written", "too many parts");
	}
	if (good) {
		add_head(l, &parts, &files, &names, &head);
		buf_printf(&path, "%s.%ld.part", l->cache.path, (long)getpid());
		good = write_file(l, path.p, &parts, buf_str(&head));
	}
	if (good)
		cache_debug("written", "");
	vec_release(&parts.list);
	buf_release(&files);
	buf_release(&names);
	buf_release(&head);
	buf_release(&path);
	return good;
}
