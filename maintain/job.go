package maintain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Job is a piece of maintenance at work or ended: what system.jobs shows. A nil Job may be used and
// notes nothing. Safe for concurrent use.
type Job struct {
	jobs *Jobs
	mu   sync.Mutex
	s    JobState
	tell func(JobState)
	told time.Time
	// telling is held while tell is called.
	telling sync.Mutex
	pace    func(bytes int64)
}

// JobState is what is known of a job at an instant.
type JobState struct {
	ID          int64
	Kind        string // the procedure's name
	Table       string
	User        string
	PID         int32 // of the session that runs it; 0: the server itself
	DryRun      bool
	Phase       string
	Files       int64 // done with
	FilesTotal  int64 // planned so far
	Bytes       int64
	BytesTotal  int64
	Started     time.Time
	Ended       time.Time // zero: it runs
	Err         error
	Description string // what it did, once it has ended
}

// State is the job's condition in one word.
func (s JobState) State() string {
	switch {
	case s.Ended.IsZero():
		return "running"
	case s.Err == nil:
		return "done"
	case errors.Is(s.Err, context.Canceled), errors.Is(s.Err, context.DeadlineExceeded):
		return "cancelled"
	}
	return "failed"
}

// String says how far the job is, for who waits for it.
func (s JobState) String() string {
	of := func(done, total int64, unit string) string {
		if total == 0 {
			return fmt.Sprintf("%d %s", done, unit)
		}
		return fmt.Sprintf("%d of %d %s", done, total, unit)
	}
	text := s.Kind + " of " + s.Table + ": " + s.Phase
	if s.Files+s.FilesTotal > 0 {
		text += ", " + of(s.Files, s.FilesTotal, "files")
	}
	if max(s.Bytes, s.BytesTotal) >= 1<<20 {
		text += ", " + of(s.Bytes>>20, s.BytesTotal>>20, "MB")
	}
	return text
}

// Rate is how many bytes a second the job has done on the mean; 0 where that cannot be told.
func (s JobState) Rate(now time.Time) int64 {
	if !s.Ended.IsZero() {
		now = s.Ended
	}
	if d := now.Sub(s.Started); d > 0 {
		return int64(float64(s.Bytes) / d.Seconds())
	}
	return 0
}

// Jobs are those of one server. Those that have ended stay until others have taken their place.
type Jobs struct {
	// TellEvery is how often who waits for a job hears of it; 0: every 5 seconds.
	TellEvery time.Duration

	mu   sync.Mutex
	list []*Job // by id
	last int64
}

// endedJobs is how many jobs that have ended are remembered.
const endedJobs = 1000

const tellEvery = 5 * time.Second

// DryRun says that nothing is really done.
func (j *Job) DryRun() { j.note(func(s *JobState) { s.DryRun = true }) }

// Start notes a job that begins. tell, if set, hears of its state now and then, in the goroutine that
// works on it.
func (j *Jobs) Start(kind, table, user string, pid int32, tell func(JobState)) *Job {
	now := time.Now()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	job := &Job{jobs: j, tell: tell, told: now, s: JobState{ID: j.last, Kind: kind, Table: table, User: user, PID: pid, Started: now, Phase: "plan"}}
	j.list = append(j.list, job)
	if len(j.list) > endedJobs {
		if i := slices.IndexFunc(j.list, func(o *Job) bool { return !o.State().Ended.IsZero() }); i >= 0 {
			j.list = slices.Delete(j.list, i, i+1)
		}
	}
	return job
}

// States are all jobs that run and the last that ended, oldest first.
func (j *Jobs) States() []JobState {
	j.mu.Lock()
	list := slices.Clone(j.list)
	j.mu.Unlock()
	out := make([]JobState, len(list))
	for i, job := range list {
		out[i] = job.State()
	}
	return out
}

// State is the job's state now.
func (j *Job) State() JobState {
	if j == nil {
		return JobState{}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.s
}

// Phase says what the job goes on to.
func (j *Job) Phase(name string) { j.note(func(s *JobState) { s.Phase = name }) }

// Plan adds to what is to be done.
func (j *Job) Plan(files, bytes int64) {
	j.note(func(s *JobState) { s.FilesTotal += files; s.BytesTotal += bytes })
}

// Pace makes the job call wait after each piece of work, to go no faster than it may.
func (j *Job) Pace(wait func(bytes int64)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pace = wait
}

// Done adds to what is done.
func (j *Job) Done(files, bytes int64) {
	if j == nil {
		return
	}
	j.note(func(s *JobState) { s.Files += files; s.Bytes += bytes })
	j.mu.Lock()
	wait := j.pace
	j.mu.Unlock()
	if wait != nil {
		wait(bytes)
	}
}

// End notes that the job is over, and what it did or why it failed.
func (j *Job) End(did string, err error) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.s.Ended.IsZero() {
		j.s.Ended, j.s.Err, j.s.Description = time.Now(), err, did
	}
}

func (j *Job) note(change func(*JobState)) {
	if j == nil {
		return
	}
	j.mu.Lock()
	change(&j.s)
	s, now := j.s, time.Now()
	due := j.tell != nil && now.Sub(j.told) >= cmp.Or(j.jobs.TellEvery, tellEvery)
	if due {
		j.told = now
	}
	j.mu.Unlock()
	if due && j.telling.TryLock() { // who hears slowly hears less often
		defer j.telling.Unlock()
		j.tell(s)
	}
}
