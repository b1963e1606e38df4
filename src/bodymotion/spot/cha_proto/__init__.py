"""Spot animations and choreographies as the vendor's messages.

Text (`.cap`, `.csq`) and bytes (`.pb`), read and written; logs, read.

=============
=================================================================================================
`messages`    the messages and their fields in one table, built with google.protobuf
`rows`        the column of each field; tables of numbers to and from the bytes and the
text of keyframes
`reader`      bytes or text → animation
`state_log`   a log of the robot's states → animation
`sequence`    bytes or text → choreography, and back; the moves of a robot and the
ranges of their parameters
`writer`      animation → bytes, text, files
`vendor`      to and from the message objects of the vendor's package, which is an extra
=============
=================================================================================================

Google's library reads and writes everything but rows that look alike: of those it
writes one, and `rows` fills in the others.
"""

from bodymotion.system.deferred import public

__all__, __getattr__ = public(__name__)
