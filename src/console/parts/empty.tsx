import type { ComponentChildren } from 'preact'

/** In place of what is not there: says why, and what can be done. */
export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <section class="empty">
    <h2>{title}</h2>
    {children}
  </section>
)
