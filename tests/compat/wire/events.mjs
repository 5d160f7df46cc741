// Reads server-sent events as they arrive.

/** Yields the events of a response as `{ event, data }`. Skips events without data, which only set the event id. */
export async function* eventsOf(response) {
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text = (text + chunk).replaceAll('\r\n', '\n');
    for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
      const event = { event: 'message', data: [] };
      for (const line of text.slice(0, end).split('\n')) {
        const [, field, value] = /^([^:]*):? ?([^]*)$/.exec(line);
        if (field === 'data') event.data.push(value);
        if (field === 'event') event.event = value;
      }
      const data = event.data.join('\n');
      if (data !== '') yield { event: event.event, data };
    }
  }
}
