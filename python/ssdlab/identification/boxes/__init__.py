"""What a box is made of: a simulated drive, or a real device or file. The experiments know only `box.Box`."""
