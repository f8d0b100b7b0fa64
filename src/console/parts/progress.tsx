/** Something of unknown length is under way. */
export const Busy = ({ label }: { label: string }) => (
  <p class="busy" role="status">
    {label} …
  </p>
)

/** How far something is. */
export const Progress = ({ label, done, total }: { label: string; done: number; total: number }) => (
  <label class="progress">
    {label}: {done.toLocaleString()} of {total.toLocaleString()}
    <progress value={done} max={Math.max(total, 1)} />
  </label>
)
