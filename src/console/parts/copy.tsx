import { announce } from './toast.tsx'

/** Copies a text whole, however little of it is shown. `what` names it for those who do not see it. */
export const Copy = ({ text, what }: { text: string; what: string }) => (
  <button
    type="button"
    class="copy"
    aria-label={`Copy ${what}`}
    title={`Copy ${what}`}
    onClick={event => {
      event.stopPropagation()
      void copyText(text, what)
    }}
  >
    <svg viewBox="0 0 16 16" width="12" height="12" aria-hidden="true">
      <path d="M5 5V2h9v9h-3M2 5h9v9H2z" fill="none" stroke="currentColor" stroke-width="1.5" />
    </svg>
  </button>
)

export const copyText = async (text: string, what: string) => {
  try {
    await navigator.clipboard.writeText(text)
    announce(`Copied ${what}.`)
  } catch {
    // Without HTTPS, browsers keep the clipboard from pages.
    announce(`This browser does not let the console copy here. Select the text: ${text}`, 'error')
  }
}
