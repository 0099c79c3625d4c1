#include "team_actors.h"
int bench_main(int argc, char **argv)
{
	(void)argc, (void)argv;
	return 0;
}
