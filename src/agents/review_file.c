/* The file under review: its content as sent, its content on disk, and the size of the diff. */
#include "agents/review.h"

#include "base/io.h"
#include "encode/attach.h"
#include "draw/diff.h"

#include <errno.h>

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void compare(struct review_file *f)
{
	struct diff d = { 0 };

	f->added = f->removed = 0;
	if (!f->now.trouble && f->now.iteration && !str_eq(f->now.seen, f->now.now)) {
		diff_make(&d, f->now.seen, f->now.now, 0);
		f->added = d.added;
		f->removed = d.removed;
		diff_release(&d);
	}
}

static int read_disk(struct review_file *f)
{
	if (stat(f->path, &f->stat) < 0)
		return err_set(&f->trouble, "%s: %s; put it back", f->path, strerror(errno));
	if (!S_ISREG(f->stat.st_mode))
		return err_set(&f->trouble, "%s is not a regular file", f->path);
	return io_read_file(f->path, ATTACH_MAX_BYTES, &f->disk, &f->trouble);
}

bool review_file_reload(struct review_file *f)
{
	struct stat st;

	if (!f->path)
		return false;
	if (stat(f->path, &st) < 0)
		st = (struct stat){ 0 };
	if (f->now.path.n && is_same_file(&st, &f->stat))
		return false;
	buf_clear(&f->disk);
	f->now.path = str_of(f->path);
	f->stat = (struct stat){ 0 };
	f->now.trouble = read_disk(f) < 0 ? f->trouble.text : NULL;
	f->now.now = buf_str(&f->disk);
	compare(f);
	return true;
}

void review_file_sent(struct review_file *f, struct str request, int64_t iteration)
{
	struct json_reader reader = { 0 };
	yyjson_val *root = NULL, *content;

	json_read(&reader, request, &root);
	content = json_get(json_get(root, "artifact"), "content");
	buf_clear(&f->seen);
	if (yyjson_is_str(content))
		buf_add_str(&f->seen, json_str(content));
	else if (content)
		json_write(&f->seen, content);
	else /* an envelope names its files */
		buf_add_str(&f->seen, buf_str(&f->disk));
	json_reader_release(&reader);
	f->now.seen = buf_str(&f->seen);
	f->now.iteration = iteration;
	compare(f);
}

void review_file_release(struct review_file *f)
{
	buf_release(&f->seen);
	buf_release(&f->disk);
}
