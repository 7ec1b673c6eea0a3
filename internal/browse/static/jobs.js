// Work that is under way: how far it is, and the page anew when it has ended.

for (const job of document.querySelectorAll('.job')) {
  const events = new EventSource(job.dataset.events)
  const show = event => {
    const state = JSON.parse(event.data)
    job.querySelector('progress').value = state.share
    job.querySelector('[role=status]').textContent = state.text
  }
  events.addEventListener('progress', show)
  events.addEventListener('end', event => {
    show(event)
    events.close()
    location.reload()
  })
  addEventListener('pagehide', () => events.close())
}
